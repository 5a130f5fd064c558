/** The APIServices of what this server itself serves. */
import type { APIService } from '../../api/generated/apiregistration-v1.ts';
import { builtinKinds } from '../../api/registry.ts';
import type { Registry } from '../registry/registry.ts';

/** Who made an APIService: `onstart`, once, for what is built in; `true`, kept, for definitions. */
export const MANAGED = 'kube-aggregator.kubernetes.io/automanaged';

/** How far in front a group stands; Kubernetes' own numbers. */
const GROUP_PRIORITY: Readonly<Record<string, number>> = {
  '': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'apiextensions.k8s.io': 16_700,
  'admissionregistration.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'resource.k8s.io': 16_200,
  'flowcontrol.apiserver.k8s.io': 16_100,
};
const VERSION_PRIORITY: Readonly<Record<string, number>> = {
  '/v1': 1,
  'autoscaling/v2': 30,
  'flowcontrol.apiserver.k8s.io/v1': 21,
  'resource.k8s.io/v1': 21,
};
/** Of definitions: behind everything that is Kubernetes' own. */
const LATER = { groupPriorityMinimum: 1000, versionPriority: 100 };

const BUILT_IN = new Set(builtinKinds.map(({ group }) => group));
/** What tells of APIServices is not one, and on a cluster metrics come from somewhere else, which installs its own. */
const UNLISTED = new Set(['apiregistration.k8s.io', 'metrics.k8s.io']);

export function localApiServices(registry: Registry): APIService[] {
  const services = new Map<string, APIService>();
  for (const { group, versions } of registry.resources()) {
    if (UNLISTED.has(group)) continue;
    for (const { name: version } of versions) {
      const name = `${version}.${group}`;
      if (services.has(name)) continue;
      const isKubernetes = BUILT_IN.has(group) || group in GROUP_PRIORITY;
      services.set(name, {
        metadata: { name, labels: { [MANAGED]: isKubernetes ? 'onstart' : 'true' } },
        spec: { ...(group !== '' && { group }), version, ...prioritiesOf(group, version) },
      });
    }
  }
  return [...services.values()];
}

function prioritiesOf(group: string, version: string): typeof LATER {
  const groupPriorityMinimum = GROUP_PRIORITY[group];
  if (groupPriorityMinimum === undefined) return LATER;
  const byStage = version.includes('alpha') ? 1 : version.includes('beta') ? 9 : 15;
  return { groupPriorityMinimum, versionPriority: VERSION_PRIORITY[`${group}/${version}`] ?? byStage };
}
