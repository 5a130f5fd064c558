/** Roles of the parts of a cluster: nodes, scheduler, controller manager and those that ask about access. */
import type { PolicyRule } from '../../../api/generated/rbac-v1.ts';
import { READ, READ_UPDATE, READ_WRITE, rule, urls } from './rule.ts';

const EVENTS = rule('create patch update', 'core events', 'events');
const CSR = 'certificatesigningrequests';
const ASK_TOKEN = rule('create', 'authentication', 'tokenreviews');
const ASK_ACCESS = rule('create', 'authorization', 'subjectaccessreviews');

const approve = (signer: string): PolicyRule[] => [rule('approve', 'certificates', 'signers', signer)];

const NODE: PolicyRule[] = [
  ASK_TOKEN,
  rule('create', 'authorization', 'subjectaccessreviews localsubjectaccessreviews'),
  rule(READ, 'core', 'services'),
  rule(`create ${READ}`, 'core', 'nodes'),
  rule('update patch', 'core', 'nodes/status'),
  rule('update patch', 'core', 'nodes'),
  rule('create update patch', 'core events', 'events'),
  rule(READ, 'core', 'pods'),
  rule('create delete', 'core', 'pods'),
  rule('update patch', 'core', 'pods/status'),
  rule('create', 'core', 'pods/eviction'),
  rule(READ, 'core', 'secrets configmaps'),
  rule('get', 'core', 'persistentvolumeclaims persistentvolumes'),
  rule('get', 'core', 'endpoints'),
  rule(`create ${READ}`, 'certificates', CSR),
  rule('get create update patch delete', 'coordination', 'leases'),
  rule('get', 'storage', 'volumeattachments'),
  rule('create', 'core', 'serviceaccounts/token'),
  rule('get update patch', 'core', 'persistentvolumeclaims/status'),
  rule(READ, 'storage', 'csidrivers'),
  rule('get create update patch delete', 'storage', 'csinodes'),
  rule(READ, 'node', 'runtimeclasses'),
  rule('get', 'resource', 'resourceclaims'),
  rule('deletecollection', 'resource', 'resourceslices'),
  rule(READ, 'core', 'serviceaccounts'),
];

const SCHEDULER: PolicyRule[] = [
  EVENTS,
  rule('create', 'coordination', 'leases'),
  rule(`${READ} update`, 'coordination', 'leases', 'kube-scheduler'),
  rule(READ_WRITE, 'coordination', 'leasecandidates'),
  rule(READ, 'core', 'nodes'),
  rule(`${READ} delete`, 'core', 'pods'),
  rule('create', 'core', 'pods/binding bindings'),
  rule('patch update', 'core', 'pods/status'),
  rule(READ, 'core', 'services replicationcontrollers'),
  rule(READ, 'apps', 'replicasets statefulsets'),
  rule(READ, 'policy', 'poddisruptionbudgets'),
  rule(READ, 'core', 'persistentvolumeclaims persistentvolumes namespaces'),
  ASK_TOKEN,
  ASK_ACCESS,
  rule(READ, 'storage', 'csinodes csidrivers csistoragecapacities volumeattachments'),
  rule(READ, 'resource', 'deviceclasses resourceslices'),
  rule(READ_UPDATE, 'resource', 'resourceclaims resourceclaims/status'),
  rule('update', 'core', 'pods/finalizers'),
  rule(READ, 'scheduling', 'podgroups workloads'),
  rule('patch update', 'scheduling', 'podgroups/status'),
];

const CONTROLLER_MANAGER: PolicyRule[] = [
  EVENTS,
  rule('create', 'coordination', 'leases'),
  rule('get update', 'coordination', 'leases', 'kube-controller-manager'),
  rule('create', 'core', 'secrets serviceaccounts serviceaccounts/token'),
  rule('delete', 'core', 'secrets'),
  rule('get', 'core', 'namespaces secrets serviceaccounts configmaps'),
  rule('update', 'core', 'secrets serviceaccounts'),
  ASK_TOKEN,
  ASK_ACCESS,
  rule('list watch', '*', '*'),
];

const HEALTH = '/livez /readyz /healthz';

export const SYSTEM_ROLES: Readonly<Record<string, readonly PolicyRule[]>> = {
  'cluster-admin': [rule('*', '*', '*'), urls('*', '*')],
  'system:discovery': [urls('get', `${HEALTH} /version /version/ /openapi /openapi/* /api /api/* /apis /apis/*`)],
  'system:monitoring': [
    urls('get', `/metrics /metrics/slis ${HEALTH} /livez/* /readyz/* /healthz/*`),
    rule('get', 'core', 'nodes/metrics'),
  ],
  'system:basic-user': [
    rule('create', 'authorization', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
    rule('create', 'authentication', 'selfsubjectreviews'),
  ],
  'system:public-info-viewer': [urls('get', `${HEALTH} /version /version/`)],
  'system:auth-delegator': [ASK_TOKEN, ASK_ACCESS],
  'system:kube-aggregator': [rule(READ, 'core', 'services endpoints')],
  'system:kube-controller-manager': CONTROLLER_MANAGER,
  'system:kube-dns': [rule('list watch', 'core', 'endpoints services')],
  'system:kube-scheduler': SCHEDULER,
  'system:kubelet-api-admin': [
    rule(READ, 'core', 'nodes'),
    rule('proxy', 'core', 'nodes'),
    rule('*', 'core', 'nodes/proxy nodes/metrics nodes/stats nodes/log nodes/pods nodes/healthz nodes/configz'),
  ],
  'system:node': NODE,
  'system:node-bootstrapper': [rule(`create ${READ}`, 'certificates', CSR)],
  'system:node-problem-detector': [rule('get', 'core', 'nodes'), rule('patch', 'core', 'nodes/status'), EVENTS],
  'system:node-proxier': [
    rule('list watch', 'core', 'services endpoints'),
    rule(READ, 'core', 'nodes'),
    EVENTS,
    rule('list watch', 'networking', 'servicecidrs'),
    rule('list watch', 'discovery', 'endpointslices'),
  ],
  'system:persistent-volume-provisioner': [
    rule(`${READ} create delete`, 'core', 'persistentvolumes'),
    rule(`${READ} update`, 'core', 'persistentvolumeclaims'),
    rule(READ, 'storage', 'storageclasses'),
    rule('watch', 'core', 'events'),
    EVENTS,
  ],
  'system:service-account-issuer-discovery': [
    urls(
      'get',
      `/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/`,
    ),
  ],
  'system:volume-scheduler': [
    rule(READ_UPDATE, 'core', 'persistentvolumes'),
    rule(READ, 'storage', 'storageclasses'),
    rule(READ_UPDATE, 'core', 'persistentvolumeclaims'),
  ],
  'system:certificates.k8s.io:certificatesigningrequests:nodeclient': [
    rule('create', 'certificates', `${CSR}/nodeclient`),
  ],
  'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient': [
    rule('create', 'certificates', `${CSR}/selfnodeclient`),
  ],
  'system:certificates.k8s.io:legacy-unknown-approver': approve('kubernetes.io/legacy-unknown'),
  'system:certificates.k8s.io:kubelet-serving-approver': approve('kubernetes.io/kubelet-serving'),
  'system:certificates.k8s.io:kube-apiserver-client-approver': approve('kubernetes.io/kube-apiserver-client'),
  'system:certificates.k8s.io:kube-apiserver-client-kubelet-approver': approve(
    'kubernetes.io/kube-apiserver-client-kubelet',
  ),
};
