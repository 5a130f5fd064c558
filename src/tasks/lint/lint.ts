import type { Job } from '../../api/generated/batch-v1.ts';
import type { KubeObject } from '../../api/resource.ts';
import { fromKruise, type KruiseLeaderWorkerSet, type LeaderWorkerSet } from '../../api/lws/types.ts';
import { decideJobGang, decideSetGang } from '../../decisions/group-making/index.ts';
import { knownApi } from './known-kinds.ts';
import { type LintOptions, type LintReport, lint } from '../../decisions/lint/index.ts';

/** Lints what manifests will make of a cluster, with gangs as the controllers would form them. */
export function lintManifests(objects: readonly KubeObject[], options?: LintOptions): LintReport {
  return lint({ objects, source: 'Manifests', gangOf, api: knownApi() }, options);
}

export function lintCluster(objects: readonly KubeObject[], options?: LintOptions): LintReport {
  return lint({ objects, source: 'Cluster' }, options);
}

function gangOf(owner: KubeObject): number | undefined {
  const verdict = owner.kind === 'LeaderWorkerSet' ? gangOfSet(owner) : gangOfJob(owner as Job);
  return verdict?.reason === 'Gang' ? verdict.minCount : undefined;
}

function gangOfJob(job: Job): ReturnType<typeof decideJobGang> | undefined {
  return typeof job.spec?.template === 'object' ? decideJobGang(job) : undefined;
}

function gangOfSet(owner: KubeObject): ReturnType<typeof decideSetGang> {
  const kruise = (owner.apiVersion ?? '').startsWith('apps.kruise.io/');
  return decideSetGang(kruise ? fromKruise(owner as KruiseLeaderWorkerSet) : (owner as LeaderWorkerSet));
}
