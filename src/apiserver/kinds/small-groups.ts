/** Kinds of the smaller groups: mostly a few defaults, a generation and columns. */
import type { CertificateSigningRequest } from '../../api/generated/certificates-v1.ts';
import type { Lease } from '../../api/generated/coordination-v1.ts';
import type { EndpointSlice } from '../../api/generated/discovery-v1.ts';
import type { Ingress } from '../../api/generated/networking-v1.ts';
import type { StorageClass } from '../../api/generated/storage-v1.ts';
import { FieldPath, type Issue, invalid, required, semanticEqual } from '../../machinery/values/index.ts';
import { signingRequestRules } from '../auth/csr/strategy.ts';
import { ageColumn, firstOf, flag, nameColumn, NONE, selectorText, table, text } from '../registry/columns.ts';
import { type Strategy, strategyOf } from '../registry/strategy.ts';

interface PlainObject {
  readonly metadata: unknown;
  readonly status?: unknown;
}

/** Counts any change outside metadata and status. */
const anyChange = (object: PlainObject, old: PlainObject): boolean => {
  const { metadata: _a, status: _b, ...rest } = object;
  const { metadata: _c, status: _d, ...before } = old;
  return !semanticEqual(rest, before);
};

export const leaseStrategy = strategyOf<Lease>({
  unconditionalUpdate: false,
  createOnUpdate: true,
  validate(object) {
    const { spec } = object;
    const path = FieldPath.of('spec');
    const issues: Issue[] = [];
    if (spec?.leaseDurationSeconds !== undefined && spec.leaseDurationSeconds <= 0) {
      issues.push(invalid(path.child('leaseDurationSeconds'), spec.leaseDurationSeconds, 'must be greater than 0'));
    }
    if (spec?.leaseTransitions !== undefined && spec.leaseTransitions < 0) {
      issues.push(invalid(path.child('leaseTransitions'), spec.leaseTransitions, 'must be greater than or equal to 0'));
    }
    return issues;
  },
  table: table([nameColumn, text('Holder', 'Who holds it', ({ spec }) => spec?.holderIdentity ?? ''), ageColumn]),
});

export const endpointSliceStrategy = strategyOf<EndpointSlice>({
  defaults(object) {
    for (const port of object.ports ?? []) {
      port.name ??= '';
      port.protocol ??= 'TCP';
    }
  },
  validate(object) {
    const { addressType, endpoints } = object;
    const issues: Issue[] = [];
    if (!addressType) issues.push(required(FieldPath.of('addressType')));
    (endpoints ?? []).forEach((endpoint, index) => {
      if ((endpoint.addresses ?? []).length === 0) {
        issues.push(
          required(FieldPath.of('endpoints').index(index).child('addresses'), 'must contain at least 1 address'),
        );
      }
    });
    return issues;
  },
  validateUpdate: (object, old) =>
    object['addressType'] === old['addressType']
      ? []
      : [invalid(FieldPath.of('addressType'), object['addressType'], 'field is immutable')],
  generation: anyChange,
  table: table([
    nameColumn,
    text('AddressType', 'Kind of addresses', ({ addressType }) => addressType ?? ''),
    text('Ports', 'Ports', ({ ports }) => (ports ?? []).map(({ port }) => String(port ?? '*')).join(',') || '<unset>'),
    text(
      'Endpoints',
      'Addresses',
      ({ endpoints }) => firstOf((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])) || '<unset>',
    ),
    ageColumn,
  ]),
});

export const ingressStrategy = strategyOf<Ingress>({
  prepareForCreate(object) {
    object['status'] = { loadBalancer: {} };
  },
  generation: 'spec',
  table: table([
    nameColumn,
    text('Class', 'Class', ({ spec }) => spec?.ingressClassName ?? NONE),
    text(
      'Hosts',
      'Host names',
      ({ spec }) =>
        (spec?.rules ?? [])
          .map(({ host }) => host ?? '')
          .filter((host) => host !== '')
          .join(',') || '*',
    ),
    text('Address', 'Addresses', ({ status }) =>
      (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '').join(','),
    ),
    text('Ports', 'Ports', ({ spec }) => ((spec?.tls ?? []).length > 0 ? '80, 443' : '80')),
    ageColumn,
  ]),
});

interface PolicySpec {
  podSelector?: { matchLabels?: Record<string, string> };
  policyTypes?: string[];
  egress?: unknown[];
  ingress?: { ports?: { protocol?: string }[] }[];
}

export const networkPolicyStrategy: Strategy = {
  defaults(object) {
    const spec = (object['spec'] ??= {}) as PolicySpec;
    spec.podSelector ??= {};
    spec.policyTypes ??= (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    for (const rule of [...(spec.ingress ?? []), ...((spec.egress ?? []) as { ports?: { protocol?: string }[] }[])]) {
      for (const port of rule.ports ?? []) port.protocol ??= 'TCP';
    }
  },
  generation: 'spec',
  table: table([
    nameColumn,
    text('Pod-Selector', 'Pods it applies to', (object) =>
      selectorText((object['spec'] as PolicySpec | undefined)?.podSelector ?? {}),
    ),
    ageColumn,
  ]),
};

export const countsSpec: Strategy = { generation: 'spec' };
export const countsAnyChange: Strategy = { generation: anyChange };

function signingState({ status = {} }: CertificateSigningRequest): string {
  const types = (status.conditions ?? []).map(({ type }) => type);
  const state = types.includes('Denied') ? ['Denied'] : types.includes('Approved') ? ['Approved'] : ['Pending'];
  if (types.includes('Failed')) state.push('Failed');
  if (status.certificate) state.push('Issued');
  return state.join(',');
}

const signingRequestTable = strategyOf<CertificateSigningRequest>({
  fields: ({ spec }) => ({ 'spec.signerName': spec?.signerName ?? '' }),
  table: table([
    nameColumn,
    ageColumn,
    text('SignerName', 'Who should sign', ({ spec }) => spec?.signerName ?? ''),
    text('Requestor', 'Who asked', ({ spec }) => spec?.username ?? ''),
    text('RequestedDuration', 'For how long', ({ spec }) =>
      spec?.expirationSeconds === undefined ? NONE : `${spec.expirationSeconds}s`,
    ),
    text('Condition', 'State', signingState),
  ]),
});

export const certificateSigningRequestStrategy: Strategy = { ...signingRequestRules, ...signingRequestTable };

function storageClassName({ metadata: { annotations, name = '' } }: StorageClass): string {
  return annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true' ? `${name} (default)` : name;
}

export const storageClassStrategy = strategyOf<StorageClass>({
  defaults(object) {
    object.reclaimPolicy ??= 'Delete';
    object.volumeBindingMode ??= 'Immediate';
  },
  deleteReturnsObject: true,
  table: table([
    { ...nameColumn, cell: storageClassName },
    text('Provisioner', 'Who makes the volumes', ({ provisioner }) => provisioner ?? ''),
    text('ReclaimPolicy', 'What happens after use', ({ reclaimPolicy }) => reclaimPolicy ?? ''),
    text('VolumeBindingMode', 'When volumes are bound', ({ volumeBindingMode }) => volumeBindingMode ?? ''),
    flag(
      'AllowVolumeExpansion',
      'Whether volumes may grow',
      ({ allowVolumeExpansion }) => allowVolumeExpansion === true,
    ),
    ageColumn,
  ]),
});

export const storageStrategy: Strategy = { deleteReturnsObject: true };
export const conditionalStorage: Strategy = { deleteReturnsObject: true, unconditionalUpdate: false };
