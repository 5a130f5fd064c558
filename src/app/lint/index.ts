import type { Job } from '../../api/generated/batch-v1.ts';
import type { KubeObject } from '../../api/resource.ts';
import { decideGang } from '../../controllers/job/index.ts';
import { type LintOptions, type LintReport, lint } from '../../decisions/lint/index.ts';

export { type ClusterObjects, gatherClusterObjects } from './gather.ts';

/** Lints what manifests will make of a cluster, with gangs as the Job controller would form them. */
export function lintManifests(objects: readonly KubeObject[], options?: LintOptions): LintReport {
  return lint({ objects, source: 'Manifests', gangOf }, options);
}

export function lintCluster(objects: readonly KubeObject[], options?: LintOptions): LintReport {
  return lint({ objects, source: 'Cluster' }, options);
}

function gangOf(job: KubeObject): number | undefined {
  const { spec } = job as Job;
  if (typeof spec?.template !== 'object') return undefined;
  const verdict = decideGang(job as Job);
  return verdict.reason === 'Gang' ? verdict.minCount : undefined;
}
