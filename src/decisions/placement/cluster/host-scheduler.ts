import type { SchedulingRules } from './cluster.ts';

/** Whose rules place pods, by the version that an API server tells of itself. */
export function levelOfVersion(gitVersion: string): SchedulingRules['level'] {
  const minor = Number(/^v?1\.(\d+)/.exec(gitVersion)?.[1] ?? 37);
  return minor >= 37 ? '1.37' : '1.36';
}

/** Our scheduler looks for a way; on a cluster that is the pods which name it, on the embedded host all of them. */
export function searchesByVersion(gitVersion: string): (schedulerName: string) => boolean {
  const embedded = gitVersion.includes('quorate');
  return (name) => name === 'quorate-scheduler' || (embedded && name === 'default-scheduler');
}
