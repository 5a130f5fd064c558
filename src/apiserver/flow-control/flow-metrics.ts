import type { Metrics } from '../../machinery/runtime/index.ts';
import type { PriorityLevel } from './priority-level.ts';
import type { Entering, FlowRefusal } from './turns.ts';

/** What became of the requests of one FlowSchema, kept as plain numbers: metrics are read seldom. */
export interface FlowTally {
  readonly schema: string;
  readonly level: string;
  dispatched: number;
  executing: number;
  seats: number;
  waiting: number;
  readonly rejected: Record<FlowRefusal, number>;
}

/** Returns how to tell of a wait. */
export function registerFlowMetrics(
  metrics: Metrics,
  tallies: ReadonlyMap<string, FlowTally>,
  levels: () => Iterable<PriorityLevel<Entering>>,
): (tally: FlowTally, execute: boolean, seconds: number) => void {
  type Count = Iterable<[{ priority_level: string; flow_schema: string }, number]>;
  const each = (count: (tally: FlowTally) => number) =>
    function* (): Count {
      for (const tally of tallies.values()) {
        yield [{ priority_level: tally.level, flow_schema: tally.schema }, count(tally)];
      }
    };
  metrics.countedTotal(
    'apiserver_flowcontrol_dispatched_requests_total',
    each((tally) => tally.dispatched),
  );
  metrics.countedTotal('apiserver_flowcontrol_rejected_requests_total', function* () {
    for (const { level, rejected, schema } of tallies.values()) {
      for (const [reason, count] of Object.entries(rejected)) {
        if (count > 0) yield [{ priority_level: level, flow_schema: schema, reason }, count];
      }
    }
  });
  metrics.countedGauge(
    'apiserver_flowcontrol_current_inqueue_requests',
    each((tally) => tally.waiting),
  );
  metrics.countedGauge(
    'apiserver_flowcontrol_current_executing_requests',
    each((tally) => tally.executing),
  );
  metrics.countedGauge(
    'apiserver_flowcontrol_current_executing_seats',
    each((tally) => tally.seats),
  );
  metrics.countedGauge('apiserver_flowcontrol_nominal_limit_seats', function* () {
    for (const { name, nominal } of levels()) yield [{ priority_level: name }, nominal];
  });
  const waits = metrics.histogram('apiserver_flowcontrol_request_wait_duration_seconds');
  return ({ level, schema }, execute, seconds) =>
    waits.observe({ priority_level: level, flow_schema: schema, execute: String(execute) }, seconds);
}
