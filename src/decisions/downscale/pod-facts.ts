import { podCondition } from '../../api/core/pod-state.ts';
import type { ContainerStatus, Pod } from '../../api/generated/core-v1.ts';
import { parseTime } from '../../machinery/values/index.ts';
import { deletionCostOf } from './deletion-cost.ts';

/** What the order looks at, read from a pod once so that comparing stays cheap. */
export interface PodFacts {
  readonly pod: Pod;
  readonly name: string;
  readonly uid: string;
  readonly assigned: boolean;
  readonly phaseOrdinal: number;
  readonly ready: boolean;
  readonly deletionCost: number;
  /** Colocation rank or picker rank, whichever the ranking uses. */
  readonly rank: number;
  /** Milliseconds since the epoch; undefined is the zero time. */
  readonly readySince: number | undefined;
  readonly readyBin: number;
  readonly restarts: number;
  readonly sidecarRestarts: number;
  readonly created: number | undefined;
  readonly createdBin: number;
}

const PHASE_ORDINAL: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

export interface ReadFactsOptions {
  readonly now: number;
  readonly rankOf: (pod: Pod) => number;
}

/** Reads the facts of many pods; pods made together share their timestamps, so each text is parsed once. */
export function readFacts(pods: readonly Pod[], { now, rankOf }: ReadFactsOptions): PodFacts[] {
  const times = new Map<string, { at: number | undefined; bin: number }>();
  const timeOf = (text: string | null | undefined): { at: number | undefined; bin: number } => {
    if (!text) return ZERO_TIME;
    let known = times.get(text);
    if (known === undefined) {
      const at = parseTime(text);
      known = at === undefined ? ZERO_TIME : { at, bin: ageBin(now - at) };
      times.set(text, known);
    }
    return known;
  };
  return pods.map((pod) => {
    const { metadata, spec, status } = pod;
    const readyCondition = podCondition(pod, 'Ready');
    const ready = readyCondition?.status === 'True';
    const readySince = ready ? timeOf(readyCondition?.lastTransitionTime) : ZERO_TIME;
    const created = timeOf(metadata.creationTimestamp);
    return {
      pod,
      name: metadata.name ?? '',
      uid: metadata.uid ?? '',
      assigned: Boolean(spec?.nodeName),
      phaseOrdinal: PHASE_ORDINAL[status?.phase ?? ''] ?? 0,
      ready,
      deletionCost: deletionCostOf(pod),
      rank: rankOf(pod),
      readySince: readySince.at,
      readyBin: readySince.bin,
      restarts: mostRestarts(status?.containerStatuses),
      sidecarRestarts: mostRestarts(sidecarStatuses(pod)),
      created: created.at,
      createdBin: created.bin,
    };
  });
}

const ZERO_TIME = { at: undefined, bin: -1 } as const;

/**
 * floor(log2(age in nanoseconds)), or -1 for an age of zero or less. Pods of roughly the same age share a bin, so
 * that the youngest are not always the ones to go.
 */
export function ageBin(ageMs: number): number {
  if (ageMs <= 0) return -1;
  const nanos = ageMs * 1e6;
  const bin = Math.floor(Math.log2(nanos));
  // The logarithm may round across an edge; powers of two are exact.
  if (2 ** bin > nanos) return bin - 1;
  return 2 ** (bin + 1) <= nanos ? bin + 1 : bin;
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
