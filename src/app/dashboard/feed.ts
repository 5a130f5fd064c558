import { setMaxListeners } from 'node:events';
import { BEAT_MS, type KnowledgeLine, STREAM_VERSION } from '../../api/ui/stream.ts';
import type { StreamBody, StreamSink } from '../../apiserver/index.ts';
import { type Clock, createClient, type Logger, nextTurn, sleep } from '../../machinery/runtime/index.ts';
import { encode, KindStream } from './kind-feed.ts';
import { SHOWN_KINDS } from './kinds.ts';
import type { DashboardUser } from './reader.ts';

/** Changes are sent together with those that follow at once… */
const GATHER_MS = 20;
/** …and no more often than this: while much happens, what an object was for a moment is never sent. */
const APART_MS = 100;
/** Someone who reloads the page comes back; the copies are kept so long. */
const LINGER_MS = 20_000;
const CHUNK_CHARS = 256 * 1024;
const ASK_MS = 5_000;

export interface FeedOptions {
  readonly reader: DashboardUser;
  readonly server: string;
  /** The server may be gone while we are not: it is asked now and then whether it is there. */
  readonly remote: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly ended: () => void;
}

interface Listener {
  readonly sink: StreamSink;
  /** It has not been told what there is, is just being told, or knows and hears every change. */
  state: 'New' | 'Greeted' | 'Current';
  /** What happened while it was being told. */
  readonly waiting: string[];
}

/**
 * Everything one reader may see, kept by list and watch in their name and sent to all of their open pages. Lines are
 * encoded once, however many pages there are.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #listeners = new Set<Listener>();
  readonly #life = new AbortController();
  readonly #kinds: readonly KindStream[];
  readonly #filled: Promise<void>;
  /** What has changed since it was last said, the newest line of each object. */
  #gathered = new Map<string, string>();
  #flushedAt = Number.NEGATIVE_INFINITY;
  #unreachable: string | undefined;
  #cancelLinger = (): void => {};

  constructor(options: FeedOptions) {
    this.#options = options;
    const { clock, log, reader } = options;
    const client = createClient({ transport: reader.transport, userAgent: 'quorate-dashboard' });
    const { signal } = this.#life;
    // Every kind listens to it, and what it waits for.
    setMaxListeners(0, signal);
    const tell = (about: string, line: string): void => this.#tell(about, line);
    this.#kinds = SHOWN_KINDS.map(
      (kind) => new KindStream(kind, { client, clock, log, signal, namespaces: reader.namespaces, tell }),
    );
    this.#filled = this.#fill();
    void this.#beat();
  }

  get ended(): boolean {
    return this.#life.signal.aborted;
  }

  /** A page's stream: what there is, then every change. */
  readonly open: StreamBody = (sink) => {
    const listener: Listener = { sink, state: 'New', waiting: [] };
    this.#cancelLinger();
    this.#listeners.add(listener);
    void this.#greet(listener);
    return () => this.#leave(listener);
  };

  stop(): void {
    if (this.ended) return;
    this.#life.abort();
    this.#cancelLinger();
    for (const { sink } of this.#listeners) sink.end();
    this.#listeners.clear();
    this.#options.ended();
  }

  #leave(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#cancelLinger = this.#options.clock.after(LINGER_MS, () => this.stop());
  }

  async #fill(): Promise<void> {
    await Promise.all(
      this.#kinds.map(async (kind) => {
        while (!this.ended) {
          try {
            return await kind.start();
          } catch (error) {
            this.#reached(error);
            await this.#wait(BEAT_MS);
          }
        }
      }),
    );
  }

  async #greet(listener: Listener): Promise<void> {
    const { clock, reader, server } = this.#options;
    const { sink } = listener;
    const send = (text: string): void => sink.write(Buffer.from(text, 'utf8'));
    send(encode({ hello: { version: STREAM_VERSION, user: reader.name, server, now: clock.now() } }));
    await this.#filled;
    // What was gathered so far is among what there is.
    this.#flush();
    listener.state = 'Greeted';
    let chunk = this.#kinds.map((kind) => encode(kind.knowledge())).join('');
    for (const kind of this.#kinds) {
      for (const line of kind.lines()) {
        chunk += line;
        if (chunk.length < CHUNK_CHARS) continue;
        send(chunk);
        chunk = '';
        await (sink.ready() ?? nextTurn());
        if (!this.#listeners.has(listener)) return;
      }
    }
    send(`${chunk}${listener.waiting.splice(0).join('')}${encode({ ready: true })}`);
    listener.state = 'Current';
  }

  #tell(about: string, line: string): void {
    if (this.#listeners.size === 0) return;
    const { clock } = this.#options;
    if (this.#gathered.size === 0) {
      clock.after(Math.max(GATHER_MS, this.#flushedAt + APART_MS - clock.elapsed()), () => this.#flush());
    }
    // What is told again goes to the end: it may follow from what was told of others meanwhile.
    this.#gathered.delete(about);
    this.#gathered.set(about, line);
  }

  #flush(): void {
    if (this.#gathered.size === 0) return;
    const text = [...this.#gathered.values()].join('');
    this.#gathered.clear();
    this.#flushedAt = this.#options.clock.elapsed();
    const bytes = Buffer.from(text, 'utf8');
    for (const { sink, state, waiting } of this.#listeners) {
      if (state === 'Current') sink.write(bytes);
      else if (state === 'Greeted') waiting.push(text);
    }
  }

  async #beat(): Promise<void> {
    const { clock, remote, reader } = this.#options;
    while (!this.ended) {
      await this.#wait(BEAT_MS);
      if (this.#listeners.size === 0) continue;
      const beat = Buffer.from(encode({ beat: clock.now() }), 'utf8');
      for (const { sink } of this.#listeners) sink.write(beat);
      if (!remote) continue;
      try {
        await reader.transport({ method: 'GET', path: '/version', whole: true, deadlineMs: ASK_MS });
        this.#reached();
      } catch (error) {
        this.#reached(error);
      }
    }
  }

  /** Says when the server cannot be asked any more, and when it can again. */
  #reached(error?: unknown): void {
    const text = error === undefined ? undefined : error instanceof Error ? error.message : 'no answer';
    if (text === this.#unreachable) return;
    this.#unreachable = text;
    const line: KnowledgeLine = { known: '*', how: text === undefined ? 'Known' : 'Stale', text };
    const bytes = Buffer.from(encode(line), 'utf8');
    for (const { sink } of this.#listeners) sink.write(bytes);
  }

  #wait(ms: number): Promise<void> {
    return sleep(this.#options.clock, ms, this.#life.signal).catch(() => {});
  }
}
