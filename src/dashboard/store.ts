/** The page's state: what the stream has told, and what the person has chosen. */
import { effect, signal } from '@preact/signals';
import { type LoginInfo, SILENT_LINE_MS, type SessionInfo, type StreamLine, UI_HEADER } from '../api/ui/stream.ts';
import { follow, type LineState } from './connection/stream.ts';
import { BudgetHistory, Fleet } from '../fleet/index.ts';

export interface Line {
  readonly state: LineState;
  readonly text?: string | undefined;
  /** When the stream was last heard; what is shown is not newer. */
  readonly heardAt: number;
}

export const session = signal<SessionInfo | undefined>(undefined);
export const line = signal<Line>({ state: 'Loading', heardAt: Date.now() });
/** Objects read so far, while everything is read for the first time. */
export const loaded = signal(0);
/** Moves with every change of `fleet`; read it to be told. */
export const revision = signal(0);
/** Nodes the person has chosen, for a drain or a question. */
export const chosen = signal<ReadonlySet<string>>(new Set());
export const history = new BudgetHistory();

let current = new Fleet();
let offsetMs = 0;

/** Whoever shows something of it is shown anew when it changes. */
export function fleet(): Fleet {
  void revision.value;
  return current;
}
/** The server's time. */
export const now = (): number => Date.now() + offsetMs;

export function choose(nodes: Iterable<string>, on: boolean): void {
  const next = new Set(chosen.value);
  for (const node of nodes) {
    if (on) next.add(node);
    else next.delete(node);
  }
  chosen.value = next;
}

let frame = 0;

/** Works out what follows at most once a frame. */
function publish(): void {
  if (frame !== 0) return;
  frame = requestAnimationFrame(() => {
    frame = 0;
    settle();
  });
  // Pages in the background get no frames, and must not fall behind for ever.
  if (document.hidden) {
    cancelAnimationFrame(frame);
    frame = 0;
    settle();
  }
}

function settle(): void {
  current.settle(now());
  history.sample(current, now());
  revision.value += 1;
}

/** A fleet that is being told everything; it takes the place of the one shown when it is complete. */
let coming: Fleet | undefined;

function apply(target: Fleet, said: StreamLine): void {
  target.hear(said);
  if ('known' in said && said.known === '*') {
    line.value = { ...line.value, text: said.text, state: said.text ? 'Lost' : 'Live' };
  } else if ('hello' in said) offsetMs = said.hello.now - Date.now();
}

async function take(lines: readonly StreamLine[]): Promise<void> {
  let changed = false;
  for (const said of lines) {
    if ('ready' in said && coming !== undefined) {
      current = coming;
      coming = undefined;
      line.value = { state: 'Live', heardAt: Date.now() };
      changed = true;
    } else if (!('beat' in said)) {
      apply(coming ?? current, said);
      changed = true;
    }
  }
  if (coming !== undefined) loaded.value += lines.length;
  else if (changed) publish();
  line.value = { ...line.value, heardAt: Date.now() };
}

export function connect(signal: AbortSignal): void {
  void follow(
    {
      begin: () => {
        coming = new Fleet();
        loaded.value = 0;
      },
      take,
      state: (state, text) => {
        coming = undefined;
        line.value = { ...line.value, state, text };
      },
    },
    signal,
  );
  const watch = setInterval(() => {
    const { heardAt, state } = line.value;
    if (state === 'Live' && Date.now() - heardAt > SILENT_LINE_MS) {
      line.value = { ...line.value, state: 'Lost', text: 'nothing has been heard from the server' };
    }
  }, 1000);
  signal.addEventListener('abort', () => clearInterval(watch));
}

/** Becomes the user of the link that was opened; what was in the address is gone before anything else happens. */
export async function logIn(): Promise<boolean> {
  const code = /^#login=([\w-]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) {
    window.history.replaceState(null, '', location.pathname);
    await fetch('session', { method: 'POST', headers: { [UI_HEADER]: '1' }, body: code }).catch(() => {});
  }
  const info = await askSession();
  if (info === undefined || 'login' in info) return false;
  session.value = info;
  return true;
}

export async function askSession(): Promise<SessionInfo | LoginInfo | undefined> {
  const response = await fetch('session', { headers: { [UI_HEADER]: '1' } }).catch(() => undefined);
  return response?.ok === true ? ((await response.json()) as SessionInfo | LoginInfo) : undefined;
}

effect(() => {
  document.title = line.value.state === 'Lost' ? 'Quorate (stale)' : 'Quorate';
});
