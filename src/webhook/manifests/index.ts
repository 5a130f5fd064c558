import { groupDefinitions, OWN_KINDS, requestDefinitions } from '../../api/crds/index.ts';
import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import type { KubeObject } from '../../api/resource.ts';
import { accessObjects, featureAccess, noticeAccess, recreateAccess, requestAccess } from './access.ts';
import { type InstallOptions, type KindsFrom, labels } from './options.ts';
import { schedulerObjects } from './scheduler.ts';
import { emptyConfigurations } from './webhooks.ts';
import { workloadObjects } from './workload.ts';

export { accessObjects, clusterRules, featureAccess } from './access.ts';
export * from './options.ts';
export {
  emptyConfigurations,
  type Guarded,
  type Reach,
  SYSTEM_NAMESPACES,
  webhookConfigurations,
  type WebhookOptions,
} from './webhooks.ts';

/** The definitions a cluster needs; those of kinds that it or other software brings are not among them. */
export function definitions(groups: KindsFrom = 'native', requests: KindsFrom = 'native'): CustomResourceDefinition[] {
  const own = OWN_KINDS.filter(({ installed }) => installed).map(({ definition }) => definition);
  return [...own, ...(groups === 'crd' ? groupDefinitions : []), ...(requests === 'crd' ? requestDefinitions : [])].map(
    (definition) => ({
      ...definition,
      metadata: { ...definition.metadata, labels },
    }),
  );
}

/** Everything an installation consists of, in the order it must be applied. Removing goes the other way round. */
export function installObjects(options: InstallOptions): KubeObject[] {
  const { evictionRequests, groups, requestKinds } = options;
  const ownRequests = evictionRequests && requestKinds === 'crd';
  return [
    ...definitions(groups, ownRequests ? 'crd' : 'native'),
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: options.namespace, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'restricted' } },
    },
    ...accessObjects(options),
    ...featureAccess(options),
    ...(ownRequests ? requestAccess() : []),
    ...noticeAccess(options),
    ...workloadObjects(options),
    ...(options.scheduler ? schedulerObjects(options) : []),
    // Empty: nothing is asked about until a replica is there to answer, which then fills them.
    ...emptyConfigurations(options),
    ...(options.recreateWebhooks ? recreateAccess(options) : []),
  ] as KubeObject[];
}
