import { OWN_KINDS } from '../../api/crds/index.ts';
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { NetworkPolicy } from '../../api/generated/networking-v1.ts';
import type { ServiceAccount } from '../../api/generated/core-v1.ts';
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../api/generated/rbac-v1.ts';
import { READ, rule } from '../../api/policy-rule.ts';
import { OWN_SCHEDULING_GROUP, SCHEDULING_GROUP } from '../../api/scheduling/stored.ts';
import { type InstallOptions, labels, METRICS_PORT, SCHEDULER } from './options.ts';

/** Pods must not carry the labels that the webhook's Service selects. */
const podLabels = { 'app.kubernetes.io/name': SCHEDULER, 'app.kubernetes.io/managed-by': 'quorate' } as const;

/** The scheduler beside the cluster's own, with an account that can place pods and little else. */
export function schedulerObjects(
  options: InstallOptions,
): (ServiceAccount | ClusterRole | ClusterRoleBinding | Role | RoleBinding | Deployment | NetworkPolicy)[] {
  const { namespace } = options;
  const subjects = [{ kind: 'ServiceAccount', name: SCHEDULER, namespace }];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: SCHEDULER, namespace, labels } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: SCHEDULER, labels },
      rules: [
        rule([''], ['pods', 'nodes', 'namespaces', 'persistentvolumeclaims', 'persistentvolumes'], READ),
        rule([''], ['pods'], ['delete']),
        rule([''], ['pods/binding'], ['create']),
        rule([''], ['pods/status'], ['patch']),
        rule([''], ['persistentvolumeclaims'], ['patch']),
        rule(['storage.k8s.io'], ['storageclasses'], READ),
        rule(['policy'], ['poddisruptionbudgets'], READ),
        ...OWN_KINDS.filter(({ scheduler }) => scheduler).map(({ type }) => rule([type.group], [type.plural], READ)),
        // What says how large a group is, and who a pod belongs to.
        rule([''], ['replicationcontrollers'], READ),
        rule(['apps'], ['replicasets', 'statefulsets'], READ),
        rule(['batch'], ['jobs'], READ),
        rule([SCHEDULING_GROUP, OWN_SCHEDULING_GROUP], ['workloads', 'podgroups', 'compositepodgroups'], READ),
        rule([SCHEDULING_GROUP, OWN_SCHEDULING_GROUP], ['podgroups/status', 'compositepodgroups/status'], ['patch']),
        rule(['', 'events.k8s.io'], ['events'], ['create', 'patch']),
        // Who reads metrics, and whether they may.
        rule(['authentication.k8s.io'], ['tokenreviews'], ['create']),
        rule(['authorization.k8s.io'], ['subjectaccessreviews'], ['create']),
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: SCHEDULER, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: SCHEDULER },
      subjects,
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: SCHEDULER, namespace, labels },
      rules: [
        rule(['coordination.k8s.io'], ['leases'], ['create']),
        rule(['coordination.k8s.io'], ['leases'], ['get', 'update'], [SCHEDULER]),
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: SCHEDULER, namespace, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: SCHEDULER },
      subjects,
    },
    deployment(options),
    networkPolicy(options),
  ];
}

/** Nothing but its metrics and probes is asked of it. */
function networkPolicy({ namespace }: InstallOptions): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: SCHEDULER, namespace, labels },
    spec: {
      podSelector: { matchLabels: { ...podLabels } },
      policyTypes: ['Ingress'],
      ingress: [{ ports: [{ protocol: 'TCP', port: 'metrics' }] }],
    },
  };
}

function deployment({ image, namespace, replicas }: InstallOptions): Deployment {
  const probe = (path: string) => ({ httpGet: { path, port: 'metrics', scheme: 'HTTPS' }, periodSeconds: 5 });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: SCHEDULER, namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: { ...podLabels } },
      template: {
        metadata: { labels: { ...podLabels } },
        spec: {
          serviceAccountName: SCHEDULER,
          priorityClassName: 'system-cluster-critical',
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: SCHEDULER,
              image,
              args: [
                'scheduler',
                `--scheduler-name=${SCHEDULER}`,
                `--lease-namespace=${namespace}`,
                '--bind=0.0.0.0',
                `--metrics-port=${METRICS_PORT}`,
                '--log-format=json',
              ],
              ports: [{ name: 'metrics', containerPort: METRICS_PORT }],
              readinessProbe: probe('/readyz'),
              livenessProbe: { ...probe('/livez'), failureThreshold: 6 },
              startupProbe: { ...probe('/startupz'), failureThreshold: 24 },
              resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '1Gi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
        },
      },
    },
  };
}
