/** Plays one history: clients at work, the server killed and started again beneath them, and a last write that all hear of. */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Dice } from '../attacks/fuzz/dice.ts';
import { type Connection, http1Connection, http2Connection } from './client.ts';
import { type Collection, COLLECTIONS, type History, type Violation } from './history.ts';
import { judge } from './judge.ts';
import type { MortalServer } from './server.ts';
import { createStage, setStage, type Stage } from './stage.ts';
import { watchOn } from './watchers.ts';
import { listOf, write, writeLast } from './writers.ts';

export interface Played {
  readonly history: History;
  readonly violations: readonly Violation[];
}

export interface PlayOptions {
  readonly seed: number;
  readonly kills: number;
  readonly namespace: string;
  readonly writers?: number;
}

const WATCHERS_EACH = 2;
/** Requests or answers until the next kill: from the first one on, as often below 30 as above. */
const MOST_UNTIL_KILL = 900;
const MOST_START_MS = 2000;
const HEARD_WITHIN_MS = 120_000;
const POLL_MS = 5;

/** When the server is up, and how many requests it has until it dies. */
class Fate {
  readonly #server: MortalServer;
  #left = Number.POSITIVE_INFINITY;
  #counted: 'sent' | 'answered' = 'sent';
  #struck: () => void = () => {};
  #isUp = true;
  #isOver = false;
  #waiting: (() => void)[] = [];

  constructor(server: MortalServer) {
    this.#server = server;
  }

  happened(what: 'sent' | 'answered'): void {
    if (what !== this.#counted) return;
    this.#left -= 1;
    if (this.#left !== 0) return;
    this.#isUp = false;
    this.#struck();
  }

  /** Kills the server at the drawn moment. */
  async strike(dice: Dice): Promise<void> {
    const struck = new Promise<void>((resolve) => (this.#struck = resolve));
    const kill = struck.then(() => this.#server.kill());
    this.#counted = dice.pick(['sent', 'answered'] as const);
    this.#left = Math.ceil(MOST_UNTIL_KILL ** dice.random());
    await kill;
  }

  up(): void {
    this.#isUp = true;
    this.#wake();
  }

  over(): void {
    this.#isOver = true;
    this.#wake();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  async whenUp(): Promise<boolean> {
    while (!this.#isUp && !this.#isOver) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return !this.#isOver;
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

export async function play(
  server: MortalServer,
  { kills, namespace, seed, writers = 8 }: PlayOptions,
): Promise<Played> {
  const fate = new Fate(server);
  let isEnding = false;
  const { access } = server;
  const stage = createStage(seed, {
    access,
    namespace,
    happened: (what) => fate.happened(what),
    isEnding: () => isEnding,
    whenUp: () => fate.whenUp(),
  });
  const connections = [http1Connection(access)];
  const connect = () => {
    const made = connections.length % 2 === 0 ? http1Connection(access) : http2Connection(access);
    connections.push(made);
    return made;
  };
  const keeper = { name: 'keeper', stage, connection: connections[0] as Connection };
  await setStage(stage, keeper.connection);
  await beginLife(stage, keeper);
  const lastly = new AbortController();
  setMaxListeners(0, lastly.signal);
  const watching = COLLECTIONS.flatMap((collection) =>
    Array.from({ length: WATCHERS_EACH }, (_, at): Watching => {
      const watching = { name: `watcher-${collection}-${at}`, collection, reached: 0, done: Promise.resolve() };
      const heard = (revision: number): void => void (watching.reached = revision);
      const { name } = watching;
      watching.done = watchOn({ name, stage, collection, connection: connect(), signal: lastly.signal, heard });
      return watching;
    }),
  );
  const untilLast = { ...stage, whenUp: async () => !isEnding && (await fate.whenUp()) && !isEnding };
  const writing = Array.from({ length: writers }, (_, at) =>
    write({ name: `writer-${at}`, stage: untilLast, connection: connect() }),
  );
  await killAndStart({ dice: new Dice(seed + 1), fate, keeper, server, stage }, kills);
  isEnding = true;
  await Promise.all(writing);
  const deaf = await findDeaf(keeper, watching);
  fate.over();
  lastly.abort();
  await Promise.all(watching.map(({ done }) => done));
  for (const connection of connections) connection.close();
  const odd = stage.odd.map((text) => ({ rule: 'answers', text }));
  return { history: stage.history, violations: [...deaf, ...odd, ...judge(stage.history)] };
}

interface Watching {
  readonly name: string;
  readonly collection: Collection;
  /** The revision up to which it knows everything. */
  reached: number;
  done: Promise<void>;
}

/** Those who do not hear of the last write. */
async function findDeaf(keeper: Scene['keeper'], watching: readonly Watching[]): Promise<Violation[]> {
  const deaf: Violation[] = [];
  for (const collection of COLLECTIONS) {
    const last = await writeLast(keeper, collection);
    await listOf(keeper, collection);
    const late = performance.now() + HEARD_WITHIN_MS;
    for (const one of watching.filter((other) => other.collection === collection)) {
      while (one.reached < last && performance.now() < late) await delay(POLL_MS);
      const text = `${one.name} heard up to ${one.reached}, the last write is at ${last}`;
      if (one.reached < last) deaf.push({ rule: 'nothing is lost', text });
    }
  }
  return deaf;
}

interface Scene {
  readonly server: MortalServer;
  readonly stage: Stage;
  readonly fate: Fate;
  readonly dice: Dice;
  readonly keeper: Parameters<typeof listOf>[0];
}

async function killAndStart({ dice, fate, keeper, server, stage }: Scene, kills: number): Promise<void> {
  let done = 0;
  while (done < kills) {
    await fate.strike(dice);
    done += 1;
    // Now and then it dies again before it is up.
    while (done < kills && dice.chance(0.2)) {
      const timer = setTimeout(() => void server.kill(), dice.number(MOST_START_MS));
      const isUp = await server.start();
      clearTimeout(timer);
      if (isUp) await server.kill();
      done += 1;
    }
    if (!(await server.start())) throw new Error('The server was killed, and not by us');
    await beginLife(stage, keeper);
    fate.up();
  }
}

/** From here on everything is known to the server that lives now. */
async function beginLife(stage: Stage, keeper: Scene['keeper']): Promise<void> {
  const revision = await listOf(keeper, 'configmaps');
  if (revision === undefined) throw new Error('The server does not answer');
  stage.history.lives.push({ since: stage.tick(), revision });
}
