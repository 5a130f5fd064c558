/** Kinds of the smaller groups: mostly a few defaults, a generation and columns. */
import type { Lease } from '../../api/generated/coordination-v1.ts';
import type { EndpointSlice } from '../../api/generated/discovery-v1.ts';
import type { Ingress } from '../../api/generated/networking-v1.ts';
import { FieldPath, type Issue, invalid, required, semanticEqual } from '../../machinery/values/index.ts';
import { signingRequestRules } from '../auth/csr/strategy.ts';
import { type Strategy, strategyOf } from '../registry/strategy.ts';
import { ageColumn, NONE, nameColumn, selectorText, since, text } from './columns.ts';

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
  table: {
    columns: [nameColumn, text('Holder', 0, 'Who holds it'), ageColumn],
    cells: (object, now) => [
      object.metadata.name ?? '',
      object.spec?.holderIdentity ?? '',
      since(object.metadata.creationTimestamp, now),
    ],
  },
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
  table: {
    columns: [
      nameColumn,
      text('AddressType', 0, 'Kind of addresses'),
      text('Ports', 0, 'Ports'),
      text('Endpoints', 0, 'Addresses'),
      ageColumn,
    ],
    cells(object, now) {
      const all = (object.endpoints ?? []).flatMap(({ addresses }) => addresses ?? []);
      const more = all.length > 3 ? ` + ${all.length - 3} more...` : '';
      return [
        object.metadata.name ?? '',
        object.addressType ?? '',
        (object.ports ?? []).map(({ port }) => String(port ?? '*')).join(',') || '<unset>',
        all.length === 0 ? '<unset>' : all.slice(0, 3).join(',') + more,
        since(object.metadata.creationTimestamp, now),
      ];
    },
  },
});

export const ingressStrategy = strategyOf<Ingress>({
  prepareForCreate(object) {
    object['status'] = { loadBalancer: {} };
  },
  generation: 'spec',
  table: {
    columns: [
      nameColumn,
      text('Class', 0, 'Class'),
      text('Hosts', 0, 'Host names'),
      text('Address', 0, 'Addresses'),
      text('Ports', 0, 'Ports'),
      ageColumn,
    ],
    cells(object, now) {
      const { spec, status } = object;
      const hosts = (spec?.rules ?? []).map(({ host }) => host ?? '').filter((host) => host !== '');
      const addresses = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
      return [
        object.metadata.name ?? '',
        spec?.ingressClassName ?? NONE,
        hosts.join(',') || '*',
        addresses.join(','),
        (spec?.tls ?? []).length > 0 ? '80, 443' : '80',
        since(object.metadata.creationTimestamp, now),
      ];
    },
  },
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
  table: {
    columns: [nameColumn, text('Pod-Selector', 0, 'Pods it applies to'), ageColumn],
    cells: (object, now) => [
      object.metadata.name ?? '',
      selectorText((object['spec'] as PolicySpec | undefined)?.podSelector ?? {}),
      since(object.metadata.creationTimestamp, now),
    ],
  },
};

export const countsSpec: Strategy = { generation: 'spec' };
export const countsAnyChange: Strategy = { generation: anyChange };
export const conditionalSpec: Strategy = { generation: 'spec', unconditionalUpdate: false };
export const conditionalAny: Strategy = { generation: anyChange, unconditionalUpdate: false };

export const certificateSigningRequestStrategy: Strategy = {
  ...signingRequestRules,
  fields: (object) => ({
    'spec.signerName': (object['spec'] as { signerName?: string } | undefined)?.signerName ?? '',
  }),
  table: {
    columns: [
      nameColumn,
      ageColumn,
      text('SignerName', 0, 'Who should sign'),
      text('Requestor', 0, 'Who asked'),
      text('RequestedDuration', 0, 'For how long'),
      text('Condition', 0, 'State'),
    ],
    cells(object, now) {
      const spec = (object['spec'] ?? {}) as { signerName?: string; username?: string; expirationSeconds?: number };
      const status = (object['status'] ?? {}) as { conditions?: { type: string }[]; certificate?: string };
      const types = (status.conditions ?? []).map(({ type }) => type);
      const state = types.includes('Denied') ? ['Denied'] : types.includes('Approved') ? ['Approved'] : ['Pending'];
      if (types.includes('Failed')) state.push('Failed');
      if (status.certificate) state.push('Issued');
      return [
        object.metadata.name ?? '',
        since(object.metadata.creationTimestamp, now),
        spec.signerName ?? '',
        spec.username ?? '',
        spec.expirationSeconds === undefined ? NONE : `${spec.expirationSeconds}s`,
        state.join(','),
      ];
    },
  },
};

export const storageClassStrategy: Strategy = {
  defaults(object) {
    object['reclaimPolicy'] ??= 'Delete';
    object['volumeBindingMode'] ??= 'Immediate';
  },
  deleteReturnsObject: true,
  table: {
    columns: [
      nameColumn,
      text('Provisioner', 0, 'Who makes the volumes'),
      text('ReclaimPolicy', 0, 'What happens after use'),
      text('VolumeBindingMode', 0, 'When volumes are bound'),
      { name: 'AllowVolumeExpansion', type: 'boolean', description: 'Whether volumes may grow' },
      ageColumn,
    ],
    cells(object, now) {
      const isDefault = object.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
      return [
        `${object.metadata.name ?? ''}${isDefault ? ' (default)' : ''}`,
        (object['provisioner'] as string | undefined) ?? '',
        (object['reclaimPolicy'] as string | undefined) ?? '',
        (object['volumeBindingMode'] as string | undefined) ?? '',
        object['allowVolumeExpansion'] === true,
        since(object.metadata.creationTimestamp, now),
      ];
    },
  },
};

export const storageStrategy: Strategy = { deleteReturnsObject: true };
export const conditionalStorage: Strategy = { deleteReturnsObject: true, unconditionalUpdate: false };
