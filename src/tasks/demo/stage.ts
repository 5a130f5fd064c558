import { type Client, type Clock, createApply, sleep, systemClock } from '../../machinery/runtime/index.ts';
import { type StoryHost, StoryError } from './story.ts';

const POLL_MS = 40;
const PATIENCE_MS = 60_000;

export interface OpenStage extends StoryHost {
  end(): Promise<void>;
}

export function createStage(client: Client, { clock, signal }: { clock: Clock; signal: AbortSignal }): OpenStage {
  const releases: (() => Promise<void> | void)[] = [];
  const applyOne = createApply(client, 'quorate-demo');
  return {
    client,
    clock,
    signal,
    async apply(...objects) {
      for (const object of objects) await applyOne(object);
    },
    async until(what, check) {
      const giveUpAt = systemClock.now() + PATIENCE_MS;
      while (!(await check())) {
        if (systemClock.now() > giveUpAt) throw new StoryError(`Waited in vain: ${what}`);
        await sleep(systemClock, POLL_MS, signal);
      }
    },
    onEnd: (release) => releases.push(release),
    async end() {
      for (const release of releases.splice(0).reverse()) await release();
    },
  };
}

/** Time for readers in a hurry: waits take a tenth. */
export const briskClock: Clock = {
  now: () => systemClock.now(),
  elapsed: () => systemClock.elapsed(),
  after: (delayMs, callback) => systemClock.after(delayMs / 10, callback),
};
