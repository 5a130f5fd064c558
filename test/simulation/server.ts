import { inProcessTransport, type UserInfo } from '../../src/apiserver/index.ts';
import { createPlane } from '../../src/app/plane.ts';
import { type ManualClock, silentLogger, type Transport } from '../../src/machinery/runtime/index.ts';
import { seededRandom, seededUuids } from '../../src/machinery/values/index.ts';
import type { Store } from '../../src/storage/index.ts';
import { RevisionedStore } from '../../src/storage/revisioned-store.ts';
import type { SimulatedDisk } from './disk.ts';
import type { History } from './history.ts';
import { type AskWebhook, serveKubernetesEvictions } from './kubernetes-eviction.ts';
import type { Reachable } from './network.ts';
import { type Planted, plantBlindEvictions } from './planted.ts';
import { SimulatedProcess } from './process.ts';

export interface ServerOptions {
  readonly seed: number;
  readonly clock: ManualClock;
  readonly disk: SimulatedDisk;
  readonly history: History;
  readonly started: () => void;
  readonly planted: Planted;
  /** Evictions are done as a kube-apiserver does them, which asks this first. */
  readonly askWebhook?: AskWebhook | undefined;
}

/** The API server: dies with what it knows, and starts anew from what its disk kept. */
export class SimulatedServer {
  readonly #options: ServerOptions;
  #starts = 0;
  #setByMs = 0;
  #current: { reachable: Reachable; store: Store; process: SimulatedProcess; stop: () => void } | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  get reachable(): Reachable | undefined {
    return this.#current?.reachable;
  }

  get process(): SimulatedProcess | undefined {
    return this.#current?.process;
  }

  start(): void {
    const { askWebhook, clock, disk, history, planted, seed, started } = this.#options;
    this.#starts += 1;
    const process = new SimulatedProcess('server', clock, this.#setByMs);
    const { entries, journal, revision } = disk.open();
    const store = new RevisionedStore(journal, { entries, revision }, { now: () => process.now() });
    history.recovered(entries, revision);
    const ownSeed = seed * 1000 + this.#starts;
    const plane = createPlane({
      store: history.record(store),
      clock: process,
      log: silentLogger,
      random: seededRandom(ownSeed),
      newUid: seededUuids(ownSeed),
      controllers: true,
      extend(context) {
        if (askWebhook !== undefined) serveKubernetesEvictions(context, askWebhook);
        if (planted.blindEvictions === true) plantBlindEvictions(context);
      },
    });
    let die: (error: Error) => void = () => {};
    const death = new Promise<never>((_, reject) => {
      die = reject;
    });
    death.catch(() => {});
    const transportFor = (user: UserInfo): Transport => inProcessTransport(plane.handle, user);
    const stop = (): void => {
      process.kill();
      die(Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' }));
      plane.close();
    };
    this.#current = { reachable: { transportFor, death, now: () => process.now() }, store, process, stop };
    started();
  }

  kill(keep: boolean): void {
    if (this.#current === undefined) return;
    this.#setByMs = this.#current.process.setByMs;
    this.#options.disk.cut(keep);
    this.#current.stop();
    this.#current = undefined;
  }

  /** Forgets what happened: watches that want to go on from before must list again. */
  compact(): void {
    const store = this.#current?.store;
    store?.compact(store.revision);
  }
}
