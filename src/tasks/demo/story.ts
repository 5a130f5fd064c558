import type { KubeObject } from '../../api/resource.ts';
import type { Client, Clock } from '../../machinery/runtime/index.ts';
import type { Beat } from './beat.ts';

/** Where a story happens: a control plane of its own, reached through its API alone. */
export interface StoryHost {
  readonly client: Client;
  /** For drains and waits; in a hurry it runs ahead of the wall. */
  readonly clock: Clock;
  /** Ends when the reader has had enough. */
  readonly signal: AbortSignal;
  /** Applies objects as `kubectl apply --server-side` does, in order. */
  readonly apply: (...objects: readonly KubeObject[]) => Promise<void>;
  /** Waits for something to become true; a story in which it does not has failed. */
  readonly until: (what: string, check: () => Promise<boolean>) => Promise<void>;
  /** Is called when the story is over, whichever way it ended. */
  readonly onEnd: (release: () => Promise<void> | void) => void;
}

export interface Story {
  readonly name: string;
  /** One line for the list of stories. */
  readonly title: string;
  tell(stage: StoryHost): AsyncGenerator<Beat>;
}

/** The story did not go as told. */
export class StoryError extends Error {
  override name = 'StoryError';
}
