/** May this object be written without breaking a quota, and what is used afterwards? */
import type { Container, Pod, ResourceQuota } from '../../api/generated/core-v1.ts';
import { compareQuantities } from '../../machinery/values/index.ts';
import { addAmounts, excess, formatAmounts, only } from './amounts.ts';
import { inScope } from './scopes.ts';
import { type CountedKind, computeUsage, countsTowards, usageOf } from './usage.ts';

export interface QuotaQuestion {
  readonly kind: CountedKind;
  readonly object: object;
  /** The state before, for an update. */
  readonly old?: object | undefined;
  readonly quotas: readonly ResourceQuota[];
  readonly now: number;
}

export type QuotaVerdict =
  | {
      readonly allowed: true;
      readonly reason: 'NotCounted' | 'WithinQuota';
      /** New `status.used` of the quotas that change, by name. */
      readonly used: ReadonlyMap<string, Record<string, string>>;
    }
  | {
      readonly allowed: false;
      readonly reason: 'ConstraintNotMet' | 'UsageUnknown' | 'QuotaExceeded';
      readonly message: string;
    };

/** Compute resources every container must state when a quota limits them. */
const MUST_STATE = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);

/**
 * Rules for each quota that has something to say about the object, in order:
 *  1. a container leaves out a compute resource the quota limits: refuse
 *  2. the quota's usage has not been counted yet: refuse, because unknown means no
 *  3. the object would use more than is left: refuse
 * Only what the object adds to its old state is charged.
 */
export function decideQuota({ kind, object, old, quotas, now }: QuotaQuestion): QuotaVerdict {
  const used = new Map<string, Record<string, string>>();
  const asked = usageOf(kind, object, now);
  for (const quota of quotas) {
    const hard = quota.status?.hard ?? {};
    const limited = Object.keys(hard).filter((name) => countsTowards(kind, name));
    if (limited.length === 0 || !inScope(quota, kind, object)) continue;
    const name = quota.metadata.name ?? '';
    const unstated = kind.group === '' && kind.plural === 'pods' ? missingStatements(object as Pod, limited) : '';
    if (unstated !== '') {
      return { allowed: false, reason: 'ConstraintNotMet', message: `failed quota: ${name}: must specify ${unstated}` };
    }
    const before = quota.status?.used ?? {};
    if (limited.some((resource) => before[resource] === undefined)) {
      const message = `status unknown for quota: ${name}, resources: ${limited.sort().join(',')}`;
      return { allowed: false, reason: 'UsageUnknown', message };
    }
    const known = old !== undefined && inScope(quota, kind, old) ? usageOf(kind, old, now) : {};
    const added = only(excess(asked, known), new Set(Object.keys(hard)));
    if (Object.keys(added).length === 0) continue;
    const after = addAmounts(before, added);
    const broken = new Set(
      Object.keys(added).filter((resource) => compareQuantities(after[resource] ?? 0, hard[resource] ?? 0) > 0),
    );
    if (broken.size > 0) {
      const parts = [added, before, hard].map((amounts) => formatAmounts(only(amounts, broken)));
      const message = `exceeded quota: ${name}, requested: ${parts[0]}, used: ${parts[1]}, limited: ${parts[2]}`;
      return { allowed: false, reason: 'QuotaExceeded', message };
    }
    used.set(name, after);
  }
  return { allowed: true, reason: used.size === 0 ? 'NotCounted' : 'WithinQuota', used };
}

function missingStatements(pod: Pod, limited: readonly string[]): string {
  if (pod.spec?.resources !== undefined && pod.spec.resources !== null) return '';
  const needed = limited.filter((name) => MUST_STATE.has(name)).sort();
  if (needed.length === 0) return '';
  const containers: Container[] = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const parts: string[] = [];
  for (const name of needed) {
    const silent = containers.filter(
      ({ resources }) => computeUsage(resources?.requests ?? {}, resources?.limits ?? {})[name] === undefined,
    );
    if (silent.length > 0)
      parts.push(
        `${name} for: ${silent
          .map((container) => container.name)
          .sort()
          .join(',')}`,
      );
  }
  return parts.join('; ');
}
