/**
 * Priority and fairness: every request from outside belongs to a FlowSchema and so to a priority level, and begins when it
 * is its turn there. The objects are read as they are stored; those that must exist count also where they are missing.
 */
import { defaultFlowSchemas, defaultPriorityLevels, FLOW_CONTROL_GROUP, MANDATORY } from '../../api/flow-control.ts';
import type { FlowSchema, PriorityLevelConfiguration } from '../../api/generated/flowcontrol-v1.ts';
import type { Metrics } from '../../machinery/runtime/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { ApiRequest } from '../exchange/exchange.ts';
import { tooManyRequests } from '../exchange/status.ts';
import { KindView } from '../stored/kind-view.ts';
import { type Asked, distinguish, inOrder, matchesSchema } from './classify.ts';
import { writeDangling } from './dangling.ts';
import { type FlowTally, registerFlowMetrics } from './flow-metrics.ts';
import { PriorityLevel } from './priority-level.ts';
import { RetryAfter } from './retry-after.ts';
import { type Entering, type FlowRefusal, ThreadTurns, type ThreadTurnsOptions } from './turns.ts';

interface ServedSchema {
  readonly schema: FlowSchema;
  readonly level: PriorityLevel<Entering>;
  readonly tally: FlowTally;
}

export interface Flow extends ServedSchema {
  readonly distinguisher: string;
}

export interface FlowControlOptions extends Partial<Pick<ThreadTurnsOptions, 'nextTurn'>> {
  readonly metrics?: Metrics;
}

type Tools = Pick<ServerContext, 'clock' | 'log' | 'objects' | 'registry' | 'store'>;

export class FlowControl {
  readonly #tools: Tools;
  readonly #schemas: KindView<FlowSchema>;
  readonly #configurations: KindView<PriorityLevelConfiguration>;
  readonly #turns: ThreadTurns;
  readonly #levels = new Map<string, PriorityLevel<Entering>>();
  readonly #tallies = new Map<string, FlowTally>();
  readonly #retryAfter: RetryAfter;
  readonly #observeWait: (tally: FlowTally, execute: boolean, seconds: number) => void;
  #served: readonly ServedSchema[] = [];

  constructor(tools: Tools, { metrics, nextTurn }: FlowControlOptions = {}) {
    this.#tools = tools;
    this.#turns = new ThreadTurns({ clock: tools.clock, ...(nextTurn && { nextTurn }) });
    this.#retryAfter = new RetryAfter(tools.clock);
    this.#schemas = new KindView(tools, FLOW_CONTROL_GROUP, 'flowschemas');
    this.#configurations = new KindView(tools, FLOW_CONTROL_GROUP, 'prioritylevelconfigurations');
    this.#observeWait =
      metrics === undefined ? () => {} : registerFlowMetrics(metrics, this.#tallies, () => this.#levels.values());
    const renew = (): void => {
      this.#renew();
    };
    this.#schemas.onChange(renew);
    this.#configurations.onChange(renew);
    renew();
  }

  stop(): void {
    this.#schemas.stop();
    this.#configurations.stop();
  }

  classify(asked: Asked): Flow | undefined {
    for (const { level, schema, tally } of this.#served) {
      if (!matchesSchema(schema, asked)) continue;
      if (level.isExempt) tally.dispatched += 1;
      return { schema, level, tally, distinguisher: level.isExempt ? '' : distinguish(schema, asked) };
    }
    return undefined;
  }

  /** Does the work when it is its turn. Throws 429 where there is no room to wait, or the wait was too long. */
  async run<T>(flow: Flow, cost: number, request: Pick<ApiRequest, 'signal'>, work: () => Promise<T>): Promise<T> {
    const { distinguisher, level, schema, tally } = flow;
    const seats = Math.min(cost, level.widest);
    const entering: Entering = {
      flow: `${schema.metadata.name} ${distinguisher}`,
      cost,
      seats,
      level,
      settle: () => {},
    };
    if (!this.#turns.begin(entering)) await this.#wait(entering, tally, request.signal);
    tally.dispatched += 1;
    tally.executing += 1;
    tally.seats += seats;
    try {
      return await work();
    } finally {
      tally.executing -= 1;
      tally.seats -= seats;
      this.#turns.leave(entering);
    }
  }

  #wait(entering: Entering, tally: FlowTally, signal: AbortSignal): Promise<void> {
    const { clock } = this.#tools;
    const since = clock.elapsed();
    tally.waiting += 1;
    return new Promise((resolve, reject) => {
      entering.settle = (rejection: FlowRefusal | undefined) => {
        tally.waiting -= 1;
        this.#observeWait(tally, rejection === undefined, (clock.elapsed() - since) / 1000);
        if (rejection === undefined) return resolve();
        tally.rejected[rejection] += 1;
        const retryAfterSeconds = this.#retryAfter.refused(entering.level.name);
        reject(tooManyRequests('Too many requests, please try again later.', { retryAfterSeconds }));
      };
      this.#turns.wait(entering, signal);
    });
  }

  #renew(): void {
    const configurations = withMandatory(this.#configurations.values(), defaultPriorityLevels);
    const total = configurations.reduce(
      (sum, { spec }) => sum + ((spec?.exempt ?? spec?.limited)?.nominalConcurrencyShares ?? 0),
      0,
    );
    const gone = new Set(this.#levels.keys());
    for (const configuration of configurations) {
      const { name = '' } = configuration.metadata;
      gone.delete(name);
      const level = this.#levels.get(name) ?? new PriorityLevel<Entering>(name);
      this.#levels.set(name, level);
      for (const unplaced of level.configure(configuration, total)) unplaced.settle('queue-full');
    }
    for (const name of gone) this.#levels.delete(name);
    const served: ServedSchema[] = [];
    for (const schema of inOrder(withMandatory(this.#schemas.values(), defaultFlowSchemas))) {
      const levelName = schema.spec?.priorityLevelConfiguration.name ?? '';
      const level = this.#levels.get(levelName);
      writeDangling(this.#tools, schema, level === undefined);
      if (level !== undefined) served.push({ schema, level, tally: this.#tallyOf(schema, levelName) });
    }
    this.#served = served;
    this.#turns.use(this.#levels.values());
  }

  #tallyOf({ metadata: { name = '' } }: FlowSchema, level: string): FlowTally {
    const key = `${level} ${name}`;
    let tally = this.#tallies.get(key);
    if (tally === undefined) {
      const rejected = { cancelled: 0, 'concurrency-limit': 0, 'queue-full': 0, 'time-out': 0 };
      tally = { level, schema: name, dispatched: 0, executing: 0, seats: 0, waiting: 0, rejected };
      this.#tallies.set(key, tally);
    }
    return tally;
  }
}

/** With those that must be there, should somebody have taken them away. */
function withMandatory<T extends FlowSchema | PriorityLevelConfiguration>(
  stored: Iterable<T>,
  defaults: readonly T[],
): T[] {
  const all = new Map([...stored].map((object) => [object.metadata.name ?? '', object]));
  for (const object of defaults) {
    const { name = '' } = object.metadata;
    if (MANDATORY.has(name) && !all.has(name)) all.set(name, object);
  }
  return [...all.values()];
}
