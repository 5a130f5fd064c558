import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import type { DisruptionLedger } from '../../api/quorate/types.ts';
import type { Clock, EventRecorder, Informer } from '../../machinery/runtime/index.ts';
import { parseTime } from '../../machinery/values/index.ts';
import { DRAIN_BLOCKED, TELL_AGAIN_MS } from '../../webhook/index.ts';

export interface DrainEventsOptions {
  readonly ledgers: Pick<Informer<DisruptionLedger>, 'addHandler'>;
  readonly budget: (namespace: string, name: string) => PodDisruptionBudget | undefined;
  readonly events: EventRecorder;
  /** The API server's. */
  readonly clock: Clock;
  readonly isLeading: () => boolean;
}

/** What was said before this replica led has been told by who led then. */
const NEWS_MS = 60_000;

/** Makes an event of what replicas say in ledgers about drains that are stuck: one per budget in ten minutes. */
export function tellBlockedDrains({ budget, clock, events, isLeading, ledgers }: DrainEventsOptions): void {
  const told = new Map<string, number>();
  const seen = ({ metadata, status }: DisruptionLedger): void => {
    const said = status?.conditions?.find(({ type }) => type === DRAIN_BLOCKED);
    if (said?.status !== 'True' || !isLeading()) return;
    const { name = '', namespace = '', uid = '' } = metadata;
    const saidMs = parseTime(said.lastTransitionTime) ?? 0;
    const toldMs = told.get(uid) ?? Number.NEGATIVE_INFINITY;
    if (clock.now() - saidMs > NEWS_MS || saidMs - toldMs < TELL_AGAIN_MS) return;
    const subject = budget(namespace, name);
    if (subject === undefined) return;
    told.set(uid, saidMs);
    const typed = { ...subject, apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' };
    events.record(typed, 'Warning', DRAIN_BLOCKED, said.message ?? '');
  };
  ledgers.addHandler({ added: seen, updated: seen, deleted: ({ metadata }) => told.delete(metadata.uid ?? '') });
}
