/** Lets what a plan says happen. */
import { nodeType, podType, replicaSetType } from '../../src/api/resource-types.ts';
import { evictPod, sleep } from '../../src/machinery/runtime/index.ts';
import { NOT_READY_ANNOTATION, POWER } from '../../src/nodes/index.ts';
import { Dice } from '../placement/dice.ts';
import { drainNode, persist, uncordon } from './drain-client.ts';
import type { StoredObject } from './history.ts';
import { CALM } from './network.ts';
import { actOnNotice } from './notices.ts';
import type { Happening, Plan } from './plan.ts';
import type { World } from './world.ts';

/** The people and tools that act on the cluster, and what they still have to do. */
export class Actors {
  readonly #world: World;
  readonly #dice: Dice;
  readonly #happened: (fault: string) => void;
  readonly #busy = new Map<string, Promise<void>>();
  readonly #drained = new Set<string>();
  #weather = 0;
  #disk = 0;

  constructor(world: World, plan: Plan, happened: (fault: string) => void) {
    this.#world = world;
    this.#dice = new Dice(plan.seed ^ 0xd15c);
    this.#happened = happened;
  }

  /** What is not done yet. */
  get busy(): string[] {
    return [...this.#busy.keys()];
  }

  get drained(): ReadonlySet<string> {
    return this.#drained;
  }

  happen(what: Happening): void {
    const world = this.#world;
    switch (what.kind) {
      case 'weather':
        return this.#blow(what);
      case 'disk':
        return this.#hurtDisk(what);
      case 'kill':
        return world.crashAt(what);
      case 'kill server':
        return world.crashServerAt(what.afterFlushes, what.keep, what.downMs);
      case 'pause': {
        const process = world.processOf(what.process);
        process?.pause();
        if (process !== undefined) this.#happened(`${process.name} paused`);
        world.clock.after(what.forMs, () => process?.resume());
        return;
      }
      case 'set clock':
        this.#happened(`clock of ${what.process} set`);
        return world.processOf(what.process)?.setClockBy(what.byMs);
      case 'ask for group':
      case 'withdraw':
      case 'acknowledge': {
        const { client, person } = world;
        const side = { client, clock: person };
        return this.#keep(
          JSON.stringify(what),
          persist(side, () => actOnNotice(side, what)),
        );
      }
      case 'forget history':
        this.#happened('history forgotten');
        return world.server.compact();
      default:
        return this.#act(what);
    }
  }

  #act(what: Extract<Happening, { kind: 'drain' | 'evict' | 'delete pod' | 'unready' | 'scale' | 'power off' }>): void {
    const { client } = this.#world;
    switch (what.kind) {
      case 'drain':
        return this.#drain(`node-${what.node}`);
      case 'power off':
        this.#happened('node switched off');
        return this.#forAWhile(`power of node-${what.node}`, what.forMs, (isOff) =>
          client.patch(
            nodeType,
            { name: `node-${what.node}` },
            { type: 'merge', body: { metadata: { annotations: { [POWER]: isOff ? 'off' : null } } } },
          ),
        );
      case 'scale': {
        const set = this.#pick('replicasets', what.choice);
        // Smaller than a minimum a gang would rightly have no place; larger is always possible.
        if (set !== undefined && what.by > 0)
          this.#start(`scale ${set.metadata.name}`, () =>
            client.patch(replicaSetType, keyOf(set), {
              type: 'merge',
              body: { spec: { replicas: Math.min(4, set.spec.replicas + 1) } },
            }),
          );
        return;
      }
      default:
        return this.#actOnPod(what, this.#pick('pods', what.choice));
    }
  }

  #actOnPod(
    what: Extract<Happening, { kind: 'evict' | 'delete pod' | 'unready' }>,
    pod: StoredObject | undefined,
  ): void {
    if (pod === undefined) return;
    const { client } = this.#world;
    const name = pod.metadata.name;
    if (what.kind === 'evict') {
      const evict = () => evictPod(client, { namespace: 'default', name });
      this.#start(`evict ${name}`, evict, 1);
      if (what.twice) this.#start(`evict ${name} again`, evict, 1);
    } else if (what.kind === 'delete pod') {
      this.#start(`delete ${name}`, () => client.delete(podType, { namespace: 'default', name }), 1);
    } else {
      this.#happened('pod unready');
      this.#forAWhile(`readiness of ${name}`, what.forMs, (isOn) =>
        client.patch(podType, keyOf(pod), {
          type: 'merge',
          body: { metadata: { annotations: { [NOT_READY_ANNOTATION]: isOn ? 'true' : null } } },
        }),
      );
    }
  }

  #drain(node: string): void {
    if (this.#busy.has(`drain ${node}`)) return;
    const { client, person } = this.#world;
    const side = { client, clock: person };
    this.#keep(
      `drain ${node}`,
      drainNode(side, node).then(() => {
        this.#drained.add(node);
        return uncordon(side, node);
      }),
    );
  }

  /** Does something and, when that is done, takes it back after a while. */
  #forAWhile(name: string, forMs: number, put: (isOn: boolean) => Promise<unknown>): void {
    const { client, person } = this.#world;
    const persistently = (isOn: boolean) =>
      persist({ client, clock: person }, () => put(isOn).catch((error: unknown) => ignoreGone(error)));
    this.#keep(
      name,
      persistently(true)
        .then(() => sleep(person, forMs))
        .then(() => persistently(false)),
    );
  }

  /** Tries until it is done or cannot be, or so many times. */
  #start(name: string, ask: () => Promise<unknown>, tries = 50): void {
    const { client, person } = this.#world;
    let left = tries;
    const attempt = async (): Promise<void> => {
      left -= 1;
      try {
        await ask();
      } catch (error) {
        if (left > 0) ignoreGone(error);
      }
    };
    this.#keep(name, persist({ client, clock: person }, attempt));
  }

  #keep(name: string, work: Promise<unknown>): void {
    const done = work.then(() => {
      if (this.#busy.get(name) === done) this.#busy.delete(name);
    });
    this.#busy.set(name, done);
  }

  #pick(plural: string, choice: number): StoredObject | undefined {
    const found = this.#world.history
      .select(plural)
      .filter(({ metadata }) => metadata.namespace === 'default')
      .sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
    return found[choice % Math.max(1, found.length)];
  }

  #blow({ forMs, longestMs, strength }: Extract<Happening, { kind: 'weather' }>): void {
    const { clock, network } = this.#world;
    network.weather = {
      late: strength * 4,
      longestMs,
      lost: strength,
      unanswered: strength,
      doubled: strength,
      cut: strength / 2,
    };
    this.#weather += 1;
    const blown = this.#weather;
    clock.after(forMs, () => {
      if (blown === this.#weather) network.weather = CALM;
    });
  }

  #hurtDisk({ fails, forMs, lateMs }: Extract<Happening, { kind: 'disk' }>): void {
    const world = this.#world;
    this.#disk += 1;
    const hurt = this.#disk;
    world.diskTrouble = () => {
      const failed = this.#dice.chance(fails);
      this.#happened(failed ? 'flush failed' : 'flush late');
      return { lateMs, fails: failed };
    };
    world.clock.after(forMs, () => {
      if (hurt === this.#disk) world.diskTrouble = undefined;
    });
  }
}

const keyOf = ({ metadata: { name, namespace } }: StoredObject) => ({ name, namespace });

function ignoreGone(error: unknown): void {
  if ((error as { code?: unknown }).code !== 404) throw error;
}
