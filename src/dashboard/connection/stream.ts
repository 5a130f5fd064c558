/** The one connection of the page: a stream of lines that is opened again whenever it breaks. */
import { SILENT_LINE_MS, type StreamLine, UI_HEADER } from '../../api/ui/stream.ts';

/** Loading: never complete so far. Live: every change comes. Lost: what is shown may be old. */
export type LineState = 'Loading' | 'Live' | 'Lost' | 'LoggedOut';

export interface Lines {
  /** A stream begins: what comes until `ready` is everything there is. */
  begin(): void;
  /** Lines as they came, in order. Resolves when they have been taken in. */
  take(lines: readonly StreamLine[]): Promise<void>;
  state(state: LineState, text?: string): void;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 3_000;

export async function follow(lines: Lines, signal: AbortSignal): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted) {
    try {
      const status = await read(lines, signal, () => (waitMs = FIRST_WAIT_MS));
      if (status === 401) {
        lines.state('LoggedOut');
        return;
      }
      lines.state('Lost', status === 200 ? 'the connection was closed' : `the server answered with ${status}`);
    } catch (error) {
      if (signal.aborted) return;
      lines.state('Lost', error instanceof Error && error.name === 'SilentError' ? error.message : 'no connection');
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
}

class SilentError extends Error {
  override name = 'SilentError';
}

async function read(lines: Lines, signal: AbortSignal, opened: () => void): Promise<number> {
  const silent = new AbortController();
  const error = new SilentError('nothing has been heard from the server');
  let timer = 0;
  const heard = (): void => {
    clearTimeout(timer);
    timer = window.setTimeout(() => silent.abort(error), SILENT_LINE_MS);
  };
  heard();
  try {
    const response = await fetch('stream', {
      headers: { [UI_HEADER]: '1' },
      cache: 'no-store',
      signal: AbortSignal.any([signal, silent.signal]),
    });
    if (!response.ok || response.body === null) return response.status;
    opened();
    lines.begin();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return response.status;
      heard();
      const text = rest + value;
      const end = text.lastIndexOf('\n');
      rest = text.slice(end + 1);
      if (end < 0) continue;
      const parsed = text
        .slice(0, end)
        .split('\n')
        .map((line) => JSON.parse(line) as StreamLine);
      await lines.take(parsed);
    }
  } catch (thrown) {
    throw silent.signal.aborted ? error : thrown;
  } finally {
    clearTimeout(timer);
  }
}
