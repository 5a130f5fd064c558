/** Core kinds with little to say: endpoints, quotas, limits, accounts, volumes, templates. */
import { randomUUID } from 'node:crypto';
import type {
  Endpoints,
  LimitRange,
  LimitRangeItem,
  PersistentVolume,
  PersistentVolumeClaim,
  PodTemplate,
  ResourceQuota,
} from '../../../api/generated/core-v1.ts';
import { FieldPath, invalid, isQuantity, type Issue, semanticEqual } from '../../../machinery/values/index.ts';
import {
  ageColumn,
  containerColumns,
  firstOf,
  labelsText,
  nameColumn,
  orNone,
  table,
  text,
  wide,
} from '../../registry/columns.ts';
import { type Strategy, strategyOf } from '../../registry/strategy.ts';
import { defaultPodTemplate } from './pod-defaults.ts';

export const endpointsStrategy = strategyOf<Endpoints>({
  defaults(object) {
    for (const { ports } of object.subsets ?? []) {
      for (const port of ports ?? []) port.protocol ||= 'TCP';
    }
  },
  warnings: () => [],
  createOnUpdate: true,
  table: table([nameColumn, text('Endpoints', 'Addresses and ports', addresses), ageColumn]),
});

function addresses({ subsets = [] }: Endpoints): string {
  const all = subsets.flatMap(({ addresses: ready = [], ports = [] }) =>
    ready.flatMap(({ ip }) => (ports.length === 0 ? [ip] : ports.map(({ port }) => `${ip}:${port}`))),
  );
  return orNone(firstOf(all));
}

export const resourceQuotaStrategy = strategyOf<ResourceQuota>({
  prepareForCreate(object) {
    object['status'] = {};
  },
  validate(object) {
    const { spec } = object;
    const issues: Issue[] = [];
    for (const [name, quantity] of Object.entries(spec?.hard ?? {})) {
      if (!isQuantity(quantity))
        issues.push(invalid(FieldPath.of('spec', 'hard').key(name), quantity, 'must be a quantity'));
    }
    return issues;
  },
  validateUpdate(object, old) {
    const scopes = object.spec?.scopes;
    const before = old.spec?.scopes;
    return semanticEqual([...(scopes ?? [])].sort(), [...(before ?? [])].sort())
      ? []
      : [invalid(FieldPath.of('spec', 'scopes'), scopes ?? [], 'field is immutable')];
  },
  deleteReturnsObject: true,
  table: table([
    nameColumn,
    text('Request', 'Requests used, of those allowed', (object) =>
      quotaUse(object, (name) => !name.startsWith('limits.')),
    ),
    text('Limit', 'Limits used, of those allowed', (object) => quotaUse(object, (name) => name.startsWith('limits.'))),
    ageColumn,
  ]),
});

const quotaUse = ({ status }: ResourceQuota, counts: (name: string) => boolean): string =>
  Object.entries(status?.hard ?? {})
    .filter(([name]) => counts(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, hard]) => `${name}: ${status?.used?.[name] ?? 0}/${hard}`)
    .join(', ');

/** Writes only where something is missing: what an update does not touch is shared with the stored object. */
function addMissing(
  item: LimitRangeItem,
  field: 'default' | 'defaultRequest',
  values: LimitRangeItem['max'] = {},
): void {
  const held = item[field];
  if (held === undefined || Object.keys(values).some((name) => !Object.hasOwn(held, name))) {
    item[field] = { ...values, ...held };
  }
}

export const limitRangeStrategy = strategyOf<LimitRange>({
  prepareForCreate({ metadata }) {
    // One without a name is no fault: nobody asks for it by name.
    if (!metadata.generateName) metadata.name ||= randomUUID();
  },
  defaults(object) {
    for (const item of object.spec?.limits ?? []) {
      if (item.type !== 'Container') continue;
      addMissing(item, 'default', item.max);
      addMissing(item, 'defaultRequest', { ...item.min, ...item.default });
    }
  },
  createOnUpdate: true,
});

export const serviceAccountStrategy: Strategy = { deleteReturnsObject: true };

type AnyVolume = PersistentVolume | PersistentVolumeClaim;

const phaseColumn = text<AnyVolume>('Status', 'Phase', ({ metadata, status }) =>
  metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
);
const classColumns = [
  text<AnyVolume>('StorageClass', 'Class', ({ spec }) => spec?.storageClassName ?? ''),
  text<AnyVolume>(
    'VolumeAttributesClass',
    'Class of attributes',
    ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>',
  ),
];
const modeColumn = wide(
  text<AnyVolume>('VolumeMode', 'File system or block', ({ spec }) => spec?.volumeMode ?? '<unset>'),
);

export const persistentVolumeStrategy = strategyOf<PersistentVolume>({
  defaults(object) {
    object.spec ??= {};
    object.spec.persistentVolumeReclaimPolicy ||= 'Retain';
    object.spec.volumeMode ??= 'Filesystem';
    if (object.spec.hostPath) object.spec.hostPath.type ??= '';
    object.status ??= {};
    object.status.phase ||= 'Pending';
  },
  prepareForCreate(object, { now }) {
    object['status'] = {
      phase: 'Pending',
      lastPhaseTransitionTime: new Date(now).toISOString().replace(/\.\d+Z$/, 'Z'),
    };
  },
  deleteReturnsObject: true,
  table: table([
    nameColumn,
    text('Capacity', 'Size', ({ spec }) => String(spec?.capacity?.['storage'] ?? '')),
    text('Access Modes', 'How it may be mounted', ({ spec }) => accessModes(spec?.accessModes)),
    text('Reclaim Policy', 'What happens after use', ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? ''),
    phaseColumn,
    text('Claim', 'Claim it is bound to', ({ spec: { claimRef } = {} }) =>
      claimRef ? `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}` : '',
    ),
    ...classColumns,
    text('Reason', 'Why it is in this phase', ({ status }) => status?.reason ?? ''),
    ageColumn,
    modeColumn,
  ]),
});

export const persistentVolumeClaimStrategy = strategyOf<PersistentVolumeClaim>({
  defaults(object) {
    object.spec ??= {};
    object.spec.volumeMode ??= 'Filesystem';
    object.spec.resources ??= {};
    object.status ??= {};
    object.status.phase ||= 'Pending';
  },
  prepareForCreate(object) {
    object['status'] = { phase: 'Pending' };
  },
  deleteReturnsObject: true,
  table: table([
    nameColumn,
    phaseColumn,
    text('Volume', 'Volume it is bound to', ({ spec }) => spec?.volumeName ?? ''),
    text('Capacity', 'Size', ({ spec, status }) =>
      spec?.volumeName ? String(status?.capacity?.['storage'] ?? '') : '',
    ),
    text('Access Modes', 'How it may be mounted', ({ spec, status }) =>
      spec?.volumeName ? accessModes(status?.accessModes) : '',
    ),
    ...classColumns,
    ageColumn,
    modeColumn,
  ]),
});

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

const accessModes = (modes: readonly string[] | undefined): string =>
  (modes ?? []).map((mode) => MODES[mode] ?? mode).join(',');

export const podTemplateStrategy = strategyOf<PodTemplate>({
  defaults: (object) => defaultPodTemplate(object.template),
  generation: (object, old) => !semanticEqual(object.template, old.template),
  deleteReturnsObject: true,
  table: table([
    nameColumn,
    ...containerColumns<PodTemplate>(({ template }) => template),
    text('Pod Labels', 'Labels of the pods', ({ template }) => labelsText(template?.metadata?.labels)),
  ]),
});
