import type { NamespaceCondition, NamespaceStatus } from '../../../api/generated/core-v1.ts';
import { formatTime } from '../../../machinery/values/index.ts';

/** What one pass over a namespace's content came to. */
export interface ContentReport {
  /** Objects left, by `plural.group`. */
  readonly remaining: ReadonlyMap<string, number>;
  /** Objects left that wait for a finalizer, by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  readonly deletionErrors: readonly string[];
  /** Group versions that discovery could not read. */
  readonly undiscovered: readonly string[];
}

interface Finding {
  readonly reason: string;
  readonly message: string;
}

interface Rule {
  readonly type: string;
  readonly fine: Finding;
  readonly problem: (report: ContentReport) => Finding | undefined;
}

const counts = (entries: ReadonlyMap<string, number>, verb: string) =>
  [...entries]
    .map(([name, count]) => `${name} ${verb} ${count} resource instances`)
    .sort()
    .join(', ');

/** Kubernetes' five conditions of a namespace on its way out, in its order and with its reasons. */
const rules: readonly Rule[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    fine: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    problem: ({ undiscovered }) =>
      undiscovered.length === 0
        ? undefined
        : {
            reason: 'DiscoveryFailed',
            message: `Discovery failed for some groups, ${undiscovered.length} failing: ${undiscovered.join(', ')}`,
          },
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    fine: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
    problem: () => undefined,
  },
  {
    type: 'NamespaceDeletionContentFailure',
    fine: {
      reason: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    },
    problem: ({ deletionErrors }) =>
      deletionErrors.length === 0
        ? undefined
        : {
            reason: 'ContentDeletionFailed',
            message: `Failed to delete all resource types, ${deletionErrors.length} remaining: ${[...deletionErrors].sort().join(', ')}`,
          },
  },
  {
    type: 'NamespaceContentRemaining',
    fine: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    problem: ({ remaining }) =>
      remaining.size === 0
        ? undefined
        : { reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${counts(remaining, 'has')}` },
  },
  {
    type: 'NamespaceFinalizersRemaining',
    fine: { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
    problem: ({ finalizers }) =>
      finalizers.size === 0
        ? undefined
        : {
            reason: 'SomeFinalizersRemain',
            message: `Some content in the namespace has finalizers remaining: ${counts(finalizers, 'in')}`,
          },
  },
];

/** The status of a terminating namespace after a pass. Returns the same object when nothing changes. */
export function computeStatus(current: NamespaceStatus, report: ContentReport, now: number): NamespaceStatus {
  const conditions = [...(current.conditions ?? [])];
  let changed = current.phase !== 'Terminating';
  for (const { type, fine, problem } of rules) {
    const found = problem(report);
    const wanted = { type, status: found === undefined ? 'False' : 'True', ...(found ?? fine) };
    const at = conditions.findIndex((condition) => condition.type === type);
    const old = conditions[at];
    if (old !== undefined && isSame(old, wanted)) continue;
    changed = true;
    const lastTransitionTime = old?.status === wanted.status ? old.lastTransitionTime : formatTime(now);
    conditions.splice(at < 0 ? conditions.length : at, at < 0 ? 0 : 1, { ...wanted, lastTransitionTime });
  }
  return changed ? { ...current, phase: 'Terminating', conditions } : current;
}

function isSame(a: NamespaceCondition, b: NamespaceCondition): boolean {
  return a.status === b.status && a.reason === b.reason && a.message === b.message;
}
