import type {
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../api/generated/admissionregistration-v1.ts';
import { OWN_SCHEDULING_GROUP } from '../../api/scheduling/stored.ts';
import { reviewPath } from '../routes.ts';
import {
  EVICTIONS_CONFIGURATION,
  IGNORE_LABEL,
  type InstallOptions,
  labels,
  SERVICE,
  WEBHOOK_CONFIGURATION,
} from './options.ts';

/** Where the API server finds the webhook: the Service in a cluster, a URL where there is none. */
export type Reach = { readonly service: string } | { readonly url: string; readonly caBundle: string };

const TIMEOUT_SECONDS = 10;

/** True for replicas that fall to one or more; a Scale leaves a zero out. */
const SHRINKS =
  'has(object.spec.replicas) && has(oldObject.spec.replicas) && object.spec.replicas > 0 && object.spec.replicas < oldObject.spec.replicas';

export type WebhookOptions = Pick<InstallOptions, 'certManager' | 'failOpen' | 'namespace'> &
  Partial<Pick<InstallOptions, 'groups'>>;

/** All that the API server is told about us. */
export function webhookConfigurations(
  options: WebhookOptions,
  reach: Reach = { service: SERVICE },
): [MutatingWebhookConfiguration, ValidatingWebhookConfiguration] {
  return [evictionWebhook(options, reach), validatingWebhooks(options, reach)];
}

/** Evictions are judged by a webhook that may change them: it pins them to the pod that it judged. */
function evictionWebhook(options: WebhookOptions, reach: Reach): MutatingWebhookConfiguration {
  const rules = [
    {
      operations: ['CREATE'],
      apiGroups: [''],
      apiVersions: ['v1'],
      resources: ['pods/eviction'],
      scope: 'Namespaced',
    },
  ];
  const webhook = { ...webhookFor(options, reach)('evictions', rules), reinvocationPolicy: 'Never' };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: configurationMetadata(EVICTIONS_CONFIGURATION, options, reach),
    webhooks: [webhook],
  };
}

function configurationMetadata(
  name: string,
  { certManager, namespace }: WebhookOptions,
  reach: Reach,
): ValidatingWebhookConfiguration['metadata'] {
  const injected = certManager && 'service' in reach;
  const annotations = { 'cert-manager.io/inject-ca-from': `${namespace}/${SERVICE}` };
  return { name, labels, ...(injected ? { annotations } : {}) };
}

function webhookFor(
  { failOpen, namespace }: WebhookOptions,
  reach: Reach,
): (name: string, rules: ValidatingWebhook['rules']) => ValidatingWebhook {
  // The operator fills in the path, which is secret; what manifests do not state stays when they are applied again.
  const clientConfig = (name: string): ValidatingWebhook['clientConfig'] =>
    'url' in reach
      ? { url: `${reach.url}${reviewPath(name) ?? '/'}`, caBundle: Buffer.from(reach.caBundle).toString('base64') }
      : { service: { name: reach.service, namespace, port: 443 } };
  return (name, rules) => ({
    name: `${name}.quorate.dev`,
    clientConfig: clientConfig(`${name}.quorate.dev`),
    rules,
    failurePolicy: failOpen ? 'Ignore' : 'Fail',
    matchPolicy: 'Equivalent',
    sideEffects: 'NoneOnDryRun',
    timeoutSeconds: TIMEOUT_SECONDS,
    admissionReviewVersions: ['v1'],
    namespaceSelector: {
      matchExpressions: [
        { key: IGNORE_LABEL, operator: 'DoesNotExist' },
        // A broken webhook must not keep its own pods from being replaced.
        { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [namespace] },
      ],
    },
  });
}

function validatingWebhooks(options: WebhookOptions, reach: Reach): ValidatingWebhookConfiguration {
  const { groups = 'native' } = options;
  const webhook = webhookFor(options, reach);
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: configurationMetadata(WEBHOOK_CONFIGURATION, options, reach),
    webhooks: [
      webhook('pods', [
        {
          operations: ['UPDATE', 'DELETE'],
          apiGroups: [''],
          apiVersions: ['v1'],
          resources: ['pods'],
          scope: 'Namespaced',
        },
        {
          operations: ['UPDATE'],
          apiGroups: [''],
          apiVersions: ['v1'],
          resources: ['pods/resize'],
          scope: 'Namespaced',
        },
      ]),
      {
        ...webhook('downscales', [
          {
            operations: ['UPDATE'],
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            resources: ['replicasets', 'replicasets/scale'],
            scope: 'Namespaced',
          },
        ]),
        // A picker chooses; it never keeps a workload from shrinking.
        failurePolicy: 'Ignore',
        matchConditions: [{ name: 'shrinks', expression: SHRINKS }],
      },
      webhook('pickers', [
        {
          operations: ['CREATE', 'UPDATE'],
          apiGroups: ['policy.quorate.dev'],
          apiVersions: ['v1alpha1'],
          resources: ['downscalepodpickers'],
          scope: 'Namespaced',
        },
      ]),
      // Where the cluster serves groups itself, it checks them itself.
      ...(groups === 'crd'
        ? [
            webhook('podgroups', [
              {
                operations: ['CREATE', 'UPDATE'],
                apiGroups: [OWN_SCHEDULING_GROUP],
                apiVersions: ['v1beta1'],
                resources: ['workloads', 'podgroups'],
                scope: 'Namespaced',
              },
            ]),
          ]
        : []),
      webhook('budgets', [
        {
          operations: ['CREATE', 'UPDATE'],
          apiGroups: ['policy.kruise.io'],
          apiVersions: ['v1alpha1', 'v1beta1'],
          resources: ['podunavailablebudgets'],
          scope: 'Namespaced',
        },
      ]),
      webhook('groups', [
        {
          operations: ['CREATE'],
          apiGroups: ['policy.quorate.dev'],
          apiVersions: ['v1alpha1'],
          resources: ['groupevictions'],
          scope: 'Namespaced',
        },
      ]),
    ],
  };
}
