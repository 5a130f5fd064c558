import type { ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { deepClone } from '../../../machinery/values/index.ts';
import { previousRevision, REVISION, revisionOf, rolledBackAnnotations, ROLLBACK_TO } from './annotations.ts';
import { ensureNewReplicaSet } from './new-replica-set.ts';
import type { Pass } from './pass.ts';
import { allOf } from './replica-sets.ts';
import { isSameTemplate, withoutHash } from './template.ts';

/**
 * Copies the template of an earlier revision back into the Deployment; the next pass finds its ReplicaSet by template
 * and raises its revision. Whatever comes of it, the wish is cleared.
 */
export async function rollBack(pass: Pass, owned: readonly ReplicaSet[], wished: bigint): Promise<void> {
  const everything = allOf(await ensureNewReplicaSet(pass, owned));
  const revision = wished === 0n ? previousRevision(everything) : wished;
  const target = revision === 0n ? undefined : everything.find((replicaSet) => hasRevision(replicaSet, revision));
  const { deployment } = pass;
  const { name = '' } = deployment.metadata;
  let { annotations } = deployment.metadata;
  let template = deployment.spec?.template;
  if (target === undefined) {
    const what = wished === 0n ? 'Unable to find last revision.' : 'Unable to find the revision to rollback to.';
    pass.event('Warning', 'DeploymentRollbackRevisionNotFound', what);
  } else if (isSameTemplate(target.spec?.template, template)) {
    pass.event(
      'Warning',
      'DeploymentRollbackTemplateUnchanged',
      `The rollback revision contains the same template as current deployment "${name}"`,
    );
  } else {
    template = deepClone(withoutHash(target.spec?.template));
    annotations = rolledBackAnnotations(deployment, target);
    pass.event('Normal', 'DeploymentRollback', `Rolled back deployment "${name}" to revision ${revision}`);
  }
  const { [ROLLBACK_TO]: _wish, ...kept } = annotations ?? {};
  await pass.writeDeployment({
    ...deployment,
    metadata: { ...deployment.metadata, annotations: kept },
    spec: { ...deployment.spec, template: template ?? {} },
  });
}

const hasRevision = (replicaSet: ReplicaSet, revision: bigint): boolean =>
  replicaSet.metadata.annotations?.[REVISION] !== undefined && revisionOf(replicaSet) === revision;
