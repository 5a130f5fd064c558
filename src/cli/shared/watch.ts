import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';

export interface WatchedAnswer {
  readonly text: string;
  /** The exit code that goes with it. */
  readonly code: number;
}

export interface WatchFlag {
  readonly watch?: boolean;
}

const AGAIN_MS = 2000;

export function withWatchFlag(command: Command): Command {
  return command.option('-w, --watch', 'ask again every two seconds, and print the answer when it is another');
}

/** Prints an answer; watched, every other one too, until Ctrl-C. Returns the exit code of the last. */
export async function printAnswer(ask: () => Promise<WatchedAnswer>, { watch = false }: WatchFlag): Promise<number> {
  let last = await ask();
  process.stdout.write(last.text);
  if (!watch) return last.code;
  const stop = new AbortController();
  const asked = (): void => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, asked);
  // Whoever reads us may stop reading, as `head` does.
  process.stdout.on('error', asked);
  for (;;) {
    await wait(AGAIN_MS, undefined, { signal: stop.signal }).catch(() => {});
    if (stop.signal.aborted) return last.code;
    const next = await ask().catch((error: unknown): WatchedAnswer => {
      // What is asked about may go and come back, and so may the server.
      return { text: `${error instanceof Error ? error.message : String(error)}\n`, code: 1 };
    });
    if (next.text !== last.text) process.stdout.write(`\n${new Date().toISOString()}\n${next.text}`);
    last = next;
  }
}
