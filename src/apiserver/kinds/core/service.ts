import type { Service, ServicePort } from '../../../api/generated/core-v1.ts';
import {
  checkDns1035Label,
  FieldPath,
  invalid,
  type Issue,
  notSupported,
  required,
} from '../../../machinery/values/index.ts';
import { ageColumn, labelsText, nameColumn, NONE, table, text, wide } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';

const SPEC = FieldPath.of('spec');
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const CLIENT_IP_SECONDS = 10_800;

export const serviceStrategy = strategyOf<Service>({
  defaults(object) {
    const spec = (object.spec ??= {});
    spec.type ||= 'ClusterIP';
    spec.sessionAffinity ||= 'None';
    if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
    else if (spec.sessionAffinity === 'ClientIP') {
      spec.sessionAffinityConfig ??= {};
      spec.sessionAffinityConfig.clientIP ??= {};
      spec.sessionAffinityConfig.clientIP.timeoutSeconds ??= CLIENT_IP_SECONDS;
    }
    for (const port of spec.ports ?? []) {
      port.protocol ||= 'TCP';
      if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
    }
    const external = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
    if (external) spec.externalTrafficPolicy ||= 'Cluster';
    if (spec.type !== 'ExternalName') {
      spec.internalTrafficPolicy ??= 'Cluster';
      spec.ipFamilies ??= ['IPv4'];
      spec.ipFamilyPolicy ??= 'SingleStack';
    }
    if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
    if (spec.clusterIP && !spec.clusterIPs) spec.clusterIPs = [spec.clusterIP];
    else if (!spec.clusterIP && spec.clusterIPs?.[0]) spec.clusterIP = spec.clusterIPs[0];
  },
  prepareForCreate(object) {
    object['status'] = { loadBalancer: {} };
  },
  prepareForUpdate(object, old) {
    const spec = object.spec ?? {};
    const before = old.spec ?? {};
    const needsAddress = spec.type !== 'ExternalName';
    // A client that leaves the addresses out keeps those the server gave.
    if (needsAddress && before.type !== 'ExternalName') {
      if (!spec.clusterIP && before.clusterIP) spec.clusterIP = before.clusterIP;
      if (!spec.clusterIPs && before.clusterIPs) spec.clusterIPs = before.clusterIPs;
      keepNodePorts(spec.ports ?? [], before.ports ?? [], spec.type);
      if (!spec.healthCheckNodePort && before.healthCheckNodePort && spec.type === 'LoadBalancer') {
        spec.healthCheckNodePort = before.healthCheckNodePort;
      }
    }
    if (!needsAddress && before.type !== 'ExternalName' && spec.clusterIP === before.clusterIP) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
      delete spec.ipFamilies;
      delete spec.ipFamilyPolicy;
      delete spec.internalTrafficPolicy;
      for (const port of spec.ports ?? []) delete port.nodePort;
    }
    if (spec.type === 'ClusterIP') {
      for (const port of spec.ports ?? []) {
        if (before.type !== 'ClusterIP' && before.ports?.some(({ nodePort }) => nodePort === port.nodePort))
          delete port.nodePort;
      }
      delete spec.externalTrafficPolicy;
      delete spec.allocateLoadBalancerNodePorts;
    }
  },
  validate: validateService,
  validateUpdate(object, old) {
    const spec = object.spec ?? {};
    const before = old.spec ?? {};
    if (before.type === 'ExternalName' || spec.type === 'ExternalName' || !before.clusterIP) return [];
    return spec.clusterIP === before.clusterIP
      ? []
      : [invalid(SPEC.child('clusterIPs').index(0), spec.clusterIPs ?? [], 'may not change once set')];
  },
  checkName: checkDns1035Label,
  createOnUpdate: true,
  deleteReturnsObject: true,
  fields: (object) => ({
    'spec.clusterIP': object.spec?.clusterIP ?? '',
    'spec.type': object.spec?.type ?? '',
  }),
  table: table([
    nameColumn,
    text('Type', 'How the service is reached', ({ spec }) => spec?.type ?? ''),
    text('Cluster-IP', 'Address inside the cluster', ({ spec }) => spec?.clusterIP || NONE),
    text('External-IP', 'Address outside the cluster', externalAddress),
    text('Port(s)', 'Ports and their protocols', ({ spec }) => (spec?.ports ?? []).map(portText).join(',') || NONE),
    ageColumn,
    wide(text('Selector', 'Labels of the pods behind it', ({ spec }) => labelsText(spec?.selector))),
  ]),
});

const portText = ({ port, nodePort, protocol }: ServicePort): string =>
  nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;

function externalAddress({ spec, status }: Service): string {
  const listed = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case 'ExternalName':
      return spec.externalName ?? NONE;
    case 'LoadBalancer': {
      const given = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
      return [...given, ...listed].join(',') || '<pending>';
    }
    default:
      return listed.join(',') || NONE;
  }
}

function keepNodePorts(ports: readonly ServicePort[], before: readonly ServicePort[], type: string | undefined): void {
  if (type !== 'NodePort' && type !== 'LoadBalancer') return;
  for (const port of ports) {
    if (port.nodePort) continue;
    const same = before.find((old) => old.port === port.port && old.protocol === port.protocol);
    if (same?.nodePort) port.nodePort = same.nodePort;
  }
}

function validateService(object: Service): Issue[] {
  const spec = object.spec ?? {};
  const issues: Issue[] = [];
  if (!TYPES.includes(spec.type ?? '')) issues.push(notSupported(SPEC.child('type'), spec.type, TYPES));
  const headless = spec.clusterIP === 'None';
  if ((spec.ports ?? []).length === 0 && !headless && spec.type !== 'ExternalName') {
    issues.push(required(SPEC.child('ports')));
  }
  if (spec.type === 'ExternalName' && !spec.externalName) issues.push(required(SPEC.child('externalName')));
  const names = new Set<string>();
  (spec.ports ?? []).forEach((port, index) => {
    const at = SPEC.child('ports').index(index);
    if ((spec.ports ?? []).length > 1 && !port.name) issues.push(required(at.child('name')));
    if (port.name && names.has(port.name)) {
      issues.push({
        path: at.child('name').toString(),
        rule: 'FieldValueDuplicate',
        message: `Duplicate value: "${port.name}"`,
      });
    }
    if (port.name) names.add(port.name);
    if (!Number.isInteger(port.port) || port.port < 1 || port.port > 65_535) {
      issues.push(invalid(at.child('port'), port.port, 'must be between 1 and 65535, inclusive'));
    }
    const protocols = ['SCTP', 'TCP', 'UDP'];
    if (!protocols.includes(port.protocol ?? ''))
      issues.push(notSupported(at.child('protocol'), port.protocol, protocols));
  });
  if (!['ClientIP', 'None'].includes(spec.sessionAffinity ?? '')) {
    issues.push(notSupported(SPEC.child('sessionAffinity'), spec.sessionAffinity, ['ClientIP', 'None']));
  }
  return issues;
}
