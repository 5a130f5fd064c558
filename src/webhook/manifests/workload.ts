import { OPTIONAL_FEATURES } from '../../api/crds/index.ts';
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { Namespace, Service, ServiceAccount } from '../../api/generated/core-v1.ts';
import type { NetworkPolicy } from '../../api/generated/networking-v1.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import type { KubeObject } from '../../api/resource.ts';
import {
  CERTIFICATE_SECRET,
  DASHBOARD_PORT,
  DASHBOARD_SERVICE,
  FEATURE_GATES,
  type InstallOptions,
  labels,
  METRICS_PORT,
  MODE_LABEL,
  NAME,
  SERVICE,
  serviceNames,
  WEBHOOK_PORT,
} from './options.ts';

const CERTIFICATE_FOLDER = '/etc/quorate/tls';

export function workloadObjects(
  options: InstallOptions,
): (Namespace | ServiceAccount | Service | Deployment | PodDisruptionBudget | NetworkPolicy | KubeObject)[] {
  const { certManager, namespace } = options;
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAME, namespace, labels } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: SERVICE, namespace, labels },
      spec: {
        selector: { ...labels },
        ports: [{ name: 'webhook', port: 443, targetPort: 'webhook' }],
        // An API server stays with one replica, which then holds the ledgers it grants under: nothing need be recalled.
        sessionAffinity: 'ClientIP',
      },
    },
    ...(options.dashboard ? [dashboardService(namespace)] : []),
    ...(certManager ? certManagerObjects(options) : []),
    deployment(options),
    networkPolicy(options),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: NAME, namespace, labels },
      spec: { minAvailable: 1, selector: { matchLabels: { ...labels } } },
    },
  ];
}

/** A browser stays with one replica: only that one knows whose session it is. */
function dashboardService(namespace: string): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: DASHBOARD_SERVICE, namespace, labels },
    spec: {
      selector: { ...labels },
      ports: [{ name: 'dashboard', port: 443, targetPort: 'dashboard' }],
      sessionAffinity: 'ClientIP',
    },
  };
}

function deployment(options: InstallOptions): Deployment {
  const { certManager, dashboard, failOpen, image, mode, namespace, replicas } = options;
  const args = [
    'operator',
    `--mode=${mode}`,
    `--namespace=${namespace}`,
    // A container that is started again knows that the one before it is gone: it leads at once, if that one did.
    '--identity=$(POD_NAME)',
    '--bind=0.0.0.0',
    `--webhook-port=${WEBHOOK_PORT}`,
    `--metrics-port=${METRICS_PORT}`,
    '--log-format=json',
    ...(dashboard ? [`--dashboard-port=${DASHBOARD_PORT}`] : []),
    ...(failOpen ? ['--fail-open'] : []),
    ...(certManager ? [`--certificates=${CERTIFICATE_FOLDER}`] : []),
    ...OPTIONAL_FEATURES.filter((feature) => !options[feature]).map(
      (feature) => `--feature-gates=${FEATURE_GATES[feature]}=false`,
    ),
  ];
  const probe = (path: string) => ({ httpGet: { path, port: 'webhook', scheme: 'HTTPS' }, periodSeconds: 5 });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: NAME, namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: { ...labels } },
      template: {
        metadata: { labels: { ...labels, [MODE_LABEL]: mode } },
        spec: {
          serviceAccountName: NAME,
          priorityClassName: 'system-cluster-critical',
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              // Two nodes, two replicas: whatever happens to one leaves the other. Nodes that take no pods do not count.
              whenUnsatisfiable: 'DoNotSchedule',
              nodeTaintsPolicy: 'Honor',
              labelSelector: { matchLabels: { ...labels } },
            },
          ],
          containers: [
            {
              name: NAME,
              image,
              args,
              env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
              ports: [
                { name: 'webhook', containerPort: WEBHOOK_PORT },
                { name: 'metrics', containerPort: METRICS_PORT },
                ...(dashboard ? [{ name: 'dashboard', containerPort: DASHBOARD_PORT }] : []),
              ],
              readinessProbe: probe('/readyz'),
              livenessProbe: { ...probe('/livez'), failureThreshold: 6 },
              startupProbe: { ...probe('/startupz'), failureThreshold: 24 },
              resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '1Gi' } },
              // API servers learn in this time that this replica is not to be asked any more.
              lifecycle: { preStop: { sleep: { seconds: 3 } } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              ...(certManager
                ? { volumeMounts: [{ name: 'tls', mountPath: CERTIFICATE_FOLDER, readOnly: true }] }
                : {}),
            },
          ],
          ...(certManager ? { volumes: [{ name: 'tls', secret: { secretName: CERTIFICATE_SECRET } }] } : {}),
        },
      },
    },
  };
}

/** Nothing but the ports it serves; and the webhook's only for those who have reason to ask, where they are known. */
function networkPolicy({ dashboard, namespace, webhookFrom }: InstallOptions): NetworkPolicy {
  const port = (name: string) => ({ protocol: 'TCP', port: name });
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: NAME, namespace, labels },
    spec: {
      podSelector: { matchLabels: { ...labels } },
      policyTypes: ['Ingress'],
      ingress: [
        {
          ports: [port('webhook')],
          ...(webhookFrom.length === 0 ? {} : { from: webhookFrom.map((cidr) => ({ ipBlock: { cidr } })) }),
        },
        { ports: [port('metrics')] },
        ...(dashboard ? [{ ports: [port('dashboard')] }] : []),
      ],
    },
  };
}

function certManagerObjects({ namespace }: InstallOptions): KubeObject[] {
  const issuer = {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Issuer',
    metadata: { name: NAME, namespace, labels },
    spec: { selfSigned: {} },
  };
  const certificate = {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name: SERVICE, namespace, labels },
    spec: {
      secretName: CERTIFICATE_SECRET,
      dnsNames: serviceNames(namespace),
      issuerRef: { name: NAME, kind: 'Issuer' },
    },
  };
  return [issuer, certificate];
}
