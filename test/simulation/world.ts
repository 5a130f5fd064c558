/** Everything that runs, on one clock and one seed. */
import { systemAdmin } from '../../src/apiserver/index.ts';
import { bootstrapObjects } from '../../src/app/bootstrap.ts';
import { componentUser } from '../../src/app/component-user.ts';
import { embeddedComponents } from '../../src/app/components.ts';
import { runComponents } from '../../src/app/run-components.ts';
import {
  type Client,
  type Controller,
  createClient,
  ManualClock,
  settle,
  silentLogger,
  type TransportRequest,
} from '../../src/machinery/runtime/index.ts';
import { seededRandom } from '../../src/machinery/values/index.ts';
import { createSimulatedNodes } from '../../src/nodes/index.ts';
import type { ReviewRequest, ReviewResponse } from '../../src/webhook/index.ts';
import { Dice } from '../placement/dice.ts';
import { type DiskTrouble, SimulatedDisk } from './disk.ts';
import { History } from './history.ts';
import { CALM, Network } from './network.ts';
import { cpusOf } from './objects.ts';
import { type Replica, startReplica } from './operator.ts';
import { watchAnswers } from './oracles/acknowledged.ts';
import { type BudgetCounts, watchBudgets } from './oracles/budgets.ts';
import { watchNotices } from './oracles/notices.ts';
import type { Violated } from './oracles/oracle.ts';
import { watchPlaces } from './oracles/places.ts';
import { watchRecord } from './oracles/record.ts';
import { watchRooms } from './oracles/rooms.ts';
import { WatchOracle } from './oracles/watches.ts';
import { type Happening, isReplica, type Plan, type ProcessName, processesOf } from './plan.ts';
import type { Planted } from './planted.ts';
import { SimulatedProcess } from './process.ts';
import { SimulatedServer } from './server.ts';

interface Crash {
  readonly process: ProcessName;
  readonly when: 'before' | 'after';
  readonly downMs: number;
  readonly pauses: boolean;
  left: number;
}

export type CrashAt = Omit<Extract<Happening, { kind: 'kill' }>, 'kind'>;

interface Running {
  readonly process: SimulatedProcess;
  readonly stop: () => void;
  readonly replica?: Replica;
}

export interface WorldOptions {
  readonly violated: Violated;
  readonly happened: (fault: string) => void;
  readonly planted?: Planted | undefined;
}

/** What the operator does on a cluster. */
const OPERATORS: ReadonlySet<string> = new Set(['disruption', 'pod-unavailable-budget', 'group-eviction']);
const RESTART_MS = 1000;
/** The timeout of the webhook. */
const REVIEW_MS = 10_000;

export class World {
  readonly clock = new ManualClock();
  readonly history = new History();
  readonly watches: WatchOracle;
  readonly budgets: BudgetCounts;
  readonly network: Network;
  /** What is wrong with the record of disruptions, once all is at rest. */
  readonly unrecorded: () => string[];
  readonly server: SimulatedServer;
  /** A person at a terminal of the simulated cluster. */
  readonly person = new SimulatedProcess('person', this.clock);
  readonly client: Client;
  diskTrouble: (() => DiskTrouble) | undefined;
  readonly #plan: Plan;
  readonly #dice: Dice;
  readonly #happened: (fault: string) => void;
  readonly #running = new Map<ProcessName, Running>();
  readonly #setByMs = new Map<ProcessName, number>();
  readonly #crashes = new Set<Crash>();
  #serverCrash: { left: number; keep: boolean; downMs: number } | undefined;
  readonly #writes = new Map<ProcessName, number>();
  #starts = 0;

  constructor(plan: Plan, { happened, planted = {}, violated }: WorldOptions) {
    this.#plan = plan;
    this.#happened = happened;
    const dice = new Dice(plan.seed ^ 0x0ddba11);
    this.#dice = dice;
    const after = (delayMs: number, callback: () => void): void => void this.clock.after(delayMs, callback);
    const trouble = (): DiskTrouble => this.diskTrouble?.() ?? { lateMs: 0, fails: false };
    const disk = new SimulatedDisk({ after, trouble, dies: () => this.#serverDies(), lies: planted.lyingDisk });
    this.watches = new WatchOracle(this.history, violated);
    this.budgets =
      plan.host === 'embedded' ? watchBudgets(this.history, violated) : watchPlaces(this.history, plan, violated);
    watchRooms(this.history, violated);
    this.unrecorded = watchRecord(this.history, () => this.clock.now());
    watchNotices(this.history, () => this.clock.now(), violated);
    const answers = watchAnswers(disk, violated);
    this.server = new SimulatedServer({
      seed: plan.seed,
      clock: this.clock,
      disk,
      history: this.history,
      started: () => this.watches.serverStarted(),
      planted,
      askWebhook:
        plan.host === 'embedded'
          ? undefined
          : planted.blindReviews === true
            ? () => Promise.resolve({ allowed: true })
            : (request) => this.#ask(request),
    });
    this.network = new Network({
      dice,
      after,
      happened,
      server: () => this.server.reachable,
      crashPoint: (process, request, when) => this.#crashPoint(process, request, when),
      answered: (request, response) => answers.answered(request, response),
      deaf: planted.deafWatches,
      watched: (request, process) => {
        const { closed, heard } = this.watches.open(request, process);
        return {
          closed,
          heard(events) {
            answers.heard(request, events);
            heard(events);
          },
        };
      },
    });
    this.client = createClient({ transport: this.network.transportFor(this.person, systemAdmin), userAgent: 'person' });
  }

  async start(): Promise<void> {
    this.server.start();
    await bootstrapObjects(this.client);
    for (const name of processesOf(this.#plan)) this.startProcess(name);
    await settle();
  }

  isUp(name: ProcessName): boolean {
    return this.#running.has(name);
  }

  processOf(name: ProcessName | 'server'): SimulatedProcess | undefined {
    return name === 'server' ? this.server.process : this.#running.get(name)?.process;
  }

  startProcess(name: ProcessName): void {
    if (this.#running.has(name)) return;
    this.#starts += 1;
    const process = new SimulatedProcess(name, this.clock, this.#setByMs.get(name));
    this.#running.set(name, isReplica(name) ? this.#startReplica(process) : this.#startComponents(name, process));
  }

  #startReplica(process: SimulatedProcess): Running {
    const replica = startReplica({
      process,
      transport: this.network.transportFor(process, systemAdmin),
      random: this.#newRandom(),
      lost: () => {
        if (process.isDead) return;
        this.#happened(`${process.name} lost its lease or could not start`);
        this.killProcess(process.name as ProcessName);
        this.clock.after(RESTART_MS, () => this.startProcess(process.name as ProcessName));
      },
    });
    return { process, replica, stop: () => replica.stop() };
  }

  #startComponents(name: ProcessName, process: SimulatedProcess): Running {
    const components = runComponents(
      {
        transportFor: (component) => this.network.transportFor(process, componentUser(component)),
        clock: process,
        log: silentLogger,
        random: this.#newRandom(),
      },
      this.#controllersOf(name),
    );
    return { process, stop: () => components.stop() };
  }

  killProcess(name: ProcessName): void {
    const running = this.#running.get(name);
    if (running === undefined) return;
    this.#running.delete(name);
    this.#setByMs.set(name, running.process.setByMs);
    running.process.kill();
    running.stop();
  }

  /** The process dies at a request that changes something, so many from now, and starts again after a while. */
  crashAt({ afterWrites, downMs, pauses = false, process, when }: CrashAt): void {
    this.#crashes.add({ process, when, downMs, pauses, left: afterWrites });
  }

  /** How many requests that change something a process has sent, in all its lives. */
  writesOf(name: ProcessName): number {
    return this.#writes.get(name) ?? 0;
  }

  crashServerAt(afterFlushes: number, keep: boolean, downMs: number): void {
    this.#serverCrash = { left: afterFlushes, keep, downMs };
  }

  /** Nothing goes wrong any more, and everybody is there. */
  heal(): void {
    this.#crashes.clear();
    this.#serverCrash = undefined;
    this.network.weather = CALM;
    this.diskTrouble = undefined;
    if (this.server.reachable === undefined) this.server.start();
    this.server.process?.resume();
    for (const name of processesOf(this.#plan)) {
      this.startProcess(name);
      this.#running.get(name)?.process.resume();
    }
  }

  async stop(): Promise<void> {
    for (const name of processesOf(this.#plan)) this.killProcess(name);
    this.person.kill();
    this.server.kill(false);
    await settle();
  }

  /** Another one for each life of a process. */
  #newRandom(): () => number {
    return seededRandom(this.#plan.seed * 7919 + this.#starts);
  }

  #controllersOf(name: ProcessName): Controller[] {
    if (name === 'nodes') {
      const shape = { capacity: { cpu: String(cpusOf(this.#plan)) } };
      return [createSimulatedNodes({ count: this.#plan.nodes, shape, seed: this.#plan.seed })];
    }
    const all = embeddedComponents({ authority: '' });
    const isScheduler = ({ name: controller }: Controller): boolean => controller.includes('scheduler');
    const isOurs = ({ name: controller }: Controller): boolean =>
      this.#plan.host === 'embedded' || !OPERATORS.has(controller);
    return all.filter((one) => isOurs(one) && isScheduler(one) === (name === 'scheduler'));
  }

  /** As a Service would: any replica that is ready; who does not answer in time refuses by that. */
  async #ask(request: ReviewRequest): Promise<ReviewResponse> {
    const ready = [...this.#running.values()].flatMap(({ replica }) => (replica?.isReady() === true ? [replica] : []));
    if (ready.length === 0) throw new Error('no endpoints available');
    const replica = this.#dice.pick(ready);
    const limit = new AbortController();
    const timeout = new Promise<never>((_, reject) => {
      this.clock.after(REVIEW_MS, () => {
        reject(new Error('context deadline exceeded'));
        limit.abort(new Error('the API server waits no longer'));
      });
    });
    timeout.catch(() => {});
    return Promise.race([this.network.call(replica.process, () => replica.review(request, limit.signal)), timeout]);
  }

  #crashPoint(process: SimulatedProcess, { method }: TransportRequest, when: 'before' | 'after'): boolean {
    if (method === 'GET') return process.isDead;
    const name = process.name as ProcessName;
    if (when === 'before') this.#writes.set(name, this.writesOf(name) + 1);
    for (const crash of this.#crashes) {
      if (crash.process !== process.name || crash.when !== when || this.processOf(crash.process) !== process) continue;
      crash.left -= 1;
      if (crash.left >= 0) continue;
      this.#crashes.delete(crash);
      if (crash.pauses) {
        this.#happened(`${process.name} paused at a write`);
        process.pause();
        this.clock.after(crash.downMs, () => process.resume());
        continue;
      }
      this.#happened(`${process.name} killed ${when} a write`);
      this.killProcess(crash.process);
      this.clock.after(crash.downMs, () => this.startProcess(crash.process));
    }
    return process.isDead;
  }

  #serverDies(): boolean {
    const crash = this.#serverCrash;
    if (crash === undefined) return false;
    crash.left -= 1;
    if (crash.left >= 0) return false;
    this.#serverCrash = undefined;
    this.#happened(`server killed in a flush that was ${crash.keep ? 'kept' : 'lost'}`);
    this.server.kill(crash.keep);
    this.clock.after(crash.downMs, () => {
      if (this.server.reachable === undefined) this.server.start();
    });
    return true;
  }
}
