import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger, systemClock } from '../../machinery/runtime/index.ts';
import { startEmbedded } from '../../app/embedded.ts';
import type { Beat } from './beat.ts';
import { briskClock, createStage } from './stage.ts';
import { type Story, StoryError } from './story.ts';

export interface PlayOptions {
  /** Does not wait for a reader. */
  readonly fast: boolean;
  readonly signal: AbortSignal;
  /** Tells one beat; the story goes on when it resolves. */
  readonly tell: (beat: Beat) => Promise<void> | void;
  /** Called once the control plane is there, with the kubeconfig that leads to it. */
  readonly onStart?: (kubeconfig: string) => Promise<void> | void;
  /** Awaited after the last beat, while everything still runs. */
  readonly onFinish?: () => Promise<void> | void;
}

/** Plays a story on a control plane of its own. Throws when it does not go as told; nothing is left behind. */
export async function playStory(story: Story, { fast, onFinish, onStart, signal, tell }: PlayOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-demo-'));
  try {
    const host = await startEmbedded({
      port: 0,
      bind: '127.0.0.1',
      kubeconfig: join(folder, 'kubeconfig'),
      nodes: 0,
      // Pod pickers of stories live in this process.
      pickers: { pickerAddresses: { allow: ['127.0.0.0/8'] } },
      log: silentLogger,
    });
    const stage = createStage(host.client, { clock: fast ? briskClock : systemClock, signal });
    try {
      await onStart?.(host.kubeconfig);
      for await (const beat of story.tell(stage)) {
        await tell(beat);
        if (beat.kind === 'claim' && !beat.holds) throw new StoryError(`This did not come true: ${beat.text}`);
        signal.throwIfAborted();
      }
      await onFinish?.();
    } finally {
      await stage.end();
      await host.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
