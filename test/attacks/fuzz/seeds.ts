/** A valid object of every kind, which the fuzzer starts from. Kinds without one here get an object with metadata only. */
import { writeRequest } from '../../../src/machinery/runtime/certificate-request.fixture.ts';

const labels = { app: 'fuzz' };
const selector = { matchLabels: labels };
const podSpec = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '10m' } } }] };
const template = { metadata: { labels }, spec: podSpec };
const jobTemplate = { metadata: { labels }, spec: { ...podSpec, restartPolicy: 'Never' } };
const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const subjects = [{ kind: 'User', name: 'nobody-in-particular', apiGroup: 'rbac.authorization.k8s.io' }];
const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: 'view' });
const involved = { kind: 'Pod', namespace: 'default', name: 'x' };
const webhook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://127.0.0.1:9/x' },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  failurePolicy: 'Ignore',
  rules: [{ operations: ['CREATE'], apiGroups: ['nothing.example.com'], apiVersions: ['v1'], resources: ['nothings'] }],
};
const matchConstraints = {
  resourceRules: [
    { operations: ['CREATE'], apiGroups: ['nothing.example.com'], apiVersions: ['v1'], resources: ['nothings'] },
  ],
};

/** By `group/plural`, without `kind`, `apiVersion` and names. */
export const SEEDS: Readonly<Record<string, object>> = {
  '/configmaps': { data: { key: 'value' }, binaryData: { bytes: 'AAEC' } },
  '/endpoints': { subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }] },
  '/events': { involvedObject: involved, reason: 'Fuzz', type: 'Normal', count: 1 },
  '/limitranges': { spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } },
  '/namespaces': {},
  '/nodes': { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] }, status: { capacity: { cpu: '4', pods: '10' } } },
  '/persistentvolumeclaims': {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  '/persistentvolumes': {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
  },
  '/pods': { metadata: { labels }, spec: podSpec },
  '/podtemplates': { template },
  '/replicationcontrollers': { spec: { replicas: 1, selector: labels, template } },
  '/resourcequotas': { spec: { hard: { 'count/nothings.example.com': '5' } } },
  '/secrets': { type: 'Opaque', data: { key: 'dmFsdWU=' }, stringData: { other: 'text' } },
  '/serviceaccounts': {},
  '/services': { spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 'http' }] } },
  'apps/controllerrevisions': { revision: 1, data: { a: 1 } },
  'apps/daemonsets': { spec: { selector, template } },
  'apps/deployments': { spec: { replicas: 1, selector, template } },
  'apps/replicasets': { spec: { replicas: 1, selector, template } },
  'apps/statefulsets': { spec: { serviceName: 's', replicas: 1, selector, template } },
  'autoscaling/horizontalpodautoscalers': {
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' } },
  },
  'batch/cronjobs': { spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: jobTemplate } } } },
  'batch/jobs': { spec: { completions: 1, template: jobTemplate } },
  'certificates.k8s.io/certificatesigningrequests': {
    spec: {
      request: Buffer.from(writeRequest({ subject: [[{ type: '2.5.4.3', value: 'fuzz' }]] })).toString('base64'),
      signerName: 'example.com/signer',
      usages: ['client auth'],
    },
  },
  'coordination.k8s.io/leases': { spec: { holderIdentity: 'me', leaseDurationSeconds: 15 } },
  'discovery.k8s.io/endpointslices': {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.2.3'] }],
    ports: [{ name: 'http', port: 80 }],
  },
  'networking.k8s.io/ingresses': {
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
  },
  'networking.k8s.io/ingressclasses': { spec: { controller: 'example.com/c' } },
  'networking.k8s.io/networkpolicies': { spec: { podSelector: {}, policyTypes: ['Ingress'] } },
  'node.k8s.io/runtimeclasses': { handler: 'runc' },
  'policy/poddisruptionbudgets': { spec: { minAvailable: 1, selector } },
  'rbac.authorization.k8s.io/roles': { rules: [rule] },
  'rbac.authorization.k8s.io/clusterroles': { rules: [rule] },
  'rbac.authorization.k8s.io/rolebindings': { subjects, roleRef: roleRef('ClusterRole') },
  'rbac.authorization.k8s.io/clusterrolebindings': { subjects, roleRef: roleRef('ClusterRole') },
  'scheduling.k8s.io/priorityclasses': { value: 10 },
  'storage.k8s.io/storageclasses': { provisioner: 'example.com/p' },
  'storage.k8s.io/csidrivers': { spec: { attachRequired: false } },
  'storage.k8s.io/csinodes': { spec: { drivers: [{ name: 'example.com', nodeID: 'n' }] } },
  'storage.k8s.io/volumeattachments': {
    spec: { attacher: 'example.com', nodeName: 'n', source: { persistentVolumeName: 'p' } },
  },
  'admissionregistration.k8s.io/validatingwebhookconfigurations': { webhooks: [webhook] },
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': { webhooks: [webhook] },
  'admissionregistration.k8s.io/validatingadmissionpolicies': {
    spec: { matchConstraints, validations: [{ expression: 'object.metadata.name != "x"' }] },
  },
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': {
    spec: { policyName: 'p', validationActions: ['Warn'] },
  },
  'authentication.k8s.io/tokenreviews': { spec: { token: 'abc' } },
  'authentication.k8s.io/selfsubjectreviews': {},
  'authorization.k8s.io/selfsubjectrulesreviews': { spec: { namespace: 'default' } },
  'authorization.k8s.io/selfsubjectaccessreviews': {
    spec: { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } },
  },
  'authorization.k8s.io/subjectaccessreviews': {
    spec: { user: 'u', groups: ['g'], resourceAttributes: { verb: 'get', resource: 'pods' } },
  },
  'authorization.k8s.io/localsubjectaccessreviews': {
    spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } },
  },
};

/** By subresource: what is sent to it instead of the object. */
export const SUBRESOURCE_SEEDS: Readonly<Record<string, object>> = {
  binding: { apiVersion: 'v1', kind: 'Binding', target: { kind: 'Node', name: 'n' } },
  eviction: { apiVersion: 'policy/v1', kind: 'Eviction', deleteOptions: { dryRun: ['All'] } },
  token: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: ['a'] } },
  scale: { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 2 } },
};

/**
 * Kinds whose objects change how the server answers everybody, or that belong to the server: only dry runs write them.
 * The same for anything an administrator does to a whole collection of the cluster.
 */
export const ONLY_DRY_RUN: ReadonlySet<string> = new Set([
  '/namespaces',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingadmissionpolicies',
  'admissionregistration.k8s.io/validatingadmissionpolicybindings',
  'admissionregistration.k8s.io/mutatingadmissionpolicies',
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings',
  'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices',
  'flowcontrol.apiserver.k8s.io/flowschemas',
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations',
  'networking.k8s.io/servicecidrs',
]);
