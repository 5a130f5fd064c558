import { podCondition } from '../../api/core/pod-state.ts';
import type { ContainerStatus, Pod } from '../../api/generated/core-v1.ts';
import { parseTime } from '../../machinery/values/index.ts';
import { deletionCostOf } from './deletion-cost.ts';

const PHASE_ORDINAL: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/** When something happened: undefined is the zero time. */
export interface RankTime {
  readonly at: number | undefined;
  readonly bin: number;
}

/** What the order looks at, read from a pod once so that comparing stays cheap; times only when a rule needs them. */
export class RankedPod {
  readonly pod: Pod;
  readonly name: string;
  readonly uid: string;
  /** 1 when the pod has a node. */
  readonly assigned: number;
  readonly phaseOrdinal: number;
  /** 1 when Ready. */
  readonly ready: number;
  readonly deletionCost: number;
  /** Colocation rank or picker rank, whichever the ranking uses. */
  readonly rank: number;
  readonly restarts: number;
  readonly sidecarRestarts: number;
  readonly readyText: string;
  readonly createdText: string;
  readonly #now: number;
  #readySince: RankTime | undefined;
  #created: RankTime | undefined;

  constructor(pod: Pod, rank: number, now: number) {
    const { metadata, spec, status } = pod;
    const ready = podCondition(pod, 'Ready');
    this.pod = pod;
    this.name = metadata.name ?? '';
    this.uid = metadata.uid ?? '';
    this.assigned = spec?.nodeName ? 1 : 0;
    this.phaseOrdinal = PHASE_ORDINAL[status?.phase ?? ''] ?? 0;
    this.ready = ready?.status === 'True' ? 1 : 0;
    this.deletionCost = deletionCostOf(pod);
    this.rank = rank;
    this.restarts = mostRestarts(status?.containerStatuses);
    this.sidecarRestarts = mostRestarts(sidecarStatuses(pod));
    this.readyText = ready?.lastTransitionTime ?? '';
    this.createdText = metadata.creationTimestamp ?? '';
    this.#now = now;
  }

  get readySince(): RankTime {
    this.#readySince ??= momentOf(this.readyText, this.#now);
    return this.#readySince;
  }

  get created(): RankTime {
    this.#created ??= momentOf(this.createdText, this.#now);
    return this.#created;
  }
}

function momentOf(text: string, now: number): RankTime {
  const at = parseTime(text);
  return { at, bin: at === undefined ? -1 : ageBin(now - at) };
}

/**
 * floor(log2(age in nanoseconds)), or -1 for an age of zero or less. Pods of roughly the same age share a bin, so
 * that the youngest are not always the ones to go.
 */
export function ageBin(ageMs: number): number {
  if (ageMs <= 0) return -1;
  const nanos = ageMs * 1e6;
  const high = Math.floor(nanos / 4_294_967_296);
  return high > 0 ? 63 - Math.clz32(high) : 31 - Math.clz32(nanos);
}

function mostRestarts(statuses: readonly ContainerStatus[] | undefined): number {
  let most = 0;
  for (const { restartCount } of statuses ?? []) if (restartCount > most) most = restartCount;
  return most;
}

/** Statuses of init containers that keep running beside the others (restartPolicy Always). */
function sidecarStatuses({ spec, status }: Pod): ContainerStatus[] | undefined {
  const statuses = status?.initContainerStatuses;
  if (statuses === undefined || statuses.length === 0) return undefined;
  const sidecars = new Set(
    (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  return statuses.filter(({ name }) => sidecars.has(name));
}
