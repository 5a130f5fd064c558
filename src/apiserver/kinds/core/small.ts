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
import { type Strategy, strategyOf } from '../../registry/strategy.ts';
import { ageColumn, containerImages, containerNames, labelsText, NONE, nameColumn, since, text } from '../columns.ts';
import { defaultPodTemplate } from './pod-defaults.ts';

export const endpointsStrategy = strategyOf<Endpoints>({
  defaults(object) {
    for (const { ports } of object.subsets ?? []) {
      for (const port of ports ?? []) port.protocol ||= 'TCP';
    }
  },
  warnings: () => [],
  createOnUpdate: true,
  table: {
    columns: [nameColumn, text('Endpoints', 0, 'Addresses and ports'), ageColumn],
    cells: (object, now) => [
      object.metadata.name ?? '',
      addresses(object),
      since(object.metadata.creationTimestamp, now),
    ],
  },
});

const SHOWN = 3;

function addresses({ subsets = [] }: Endpoints): string {
  const all = subsets.flatMap(({ addresses: ready = [], ports = [] }) =>
    ready.flatMap(({ ip }) => (ports.length === 0 ? [ip] : ports.map(({ port }) => `${ip}:${port}`))),
  );
  if (all.length === 0) return NONE;
  const more = all.length > SHOWN ? ` + ${all.length - SHOWN} more...` : '';
  return all.slice(0, SHOWN).join(',') + more;
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
  table: {
    columns: [
      nameColumn,
      text('Request', 0, 'Requests used, of those allowed'),
      text('Limit', 0, 'Limits used, of those allowed'),
      ageColumn,
    ],
    cells(object, now) {
      const { status } = object;
      const used = (wanted: boolean) =>
        Object.entries(status?.hard ?? {})
          .filter(([name]) => name.startsWith('limits.') === wanted)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, hard]) => `${name}: ${status?.used?.[name] ?? 0}/${hard}`)
          .join(', ');
      return [object.metadata.name ?? '', used(false), used(true), since(object.metadata.creationTimestamp, now)];
    },
  },
});

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

export const serviceAccountStrategy: Strategy = {
  deleteReturnsObject: true,
  table: {
    columns: [nameColumn, ageColumn],
    cells: (object, now) => [object.metadata.name ?? '', since(object.metadata.creationTimestamp, now)],
  },
};

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
  table: {
    columns: [
      nameColumn,
      text('Capacity', 0, 'Size'),
      text('Access Modes', 0, 'How it may be mounted'),
      text('Reclaim Policy', 0, 'What happens after use'),
      text('Status', 0, 'Phase'),
      text('Claim', 0, 'Claim it is bound to'),
      text('StorageClass', 0, 'Class'),
      text('VolumeAttributesClass', 0, 'Class of attributes'),
      text('Reason', 0, 'Why it is in this phase'),
      ageColumn,
      text('VolumeMode', 1, 'File system or block'),
    ],
    cells(object, now) {
      const { spec, status } = object;
      const claim = spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '';
      return [
        object.metadata.name ?? '',
        String(spec?.capacity?.['storage'] ?? ''),
        accessModes(spec?.accessModes),
        spec?.persistentVolumeReclaimPolicy ?? '',
        object.metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
        claim,
        spec?.storageClassName ?? '',
        spec?.volumeAttributesClassName ?? '<unset>',
        status?.reason ?? '',
        since(object.metadata.creationTimestamp, now),
        spec?.volumeMode ?? '<unset>',
      ];
    },
  },
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
  table: {
    columns: [
      nameColumn,
      text('Status', 0, 'Phase'),
      text('Volume', 0, 'Volume it is bound to'),
      text('Capacity', 0, 'Size'),
      text('Access Modes', 0, 'How it may be mounted'),
      text('StorageClass', 0, 'Class'),
      text('VolumeAttributesClass', 0, 'Class of attributes'),
      ageColumn,
      text('VolumeMode', 1, 'File system or block'),
    ],
    cells(object, now) {
      const { spec, status } = object;
      return [
        object.metadata.name ?? '',
        object.metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
        spec?.volumeName ?? '',
        spec?.volumeName ? String(status?.capacity?.['storage'] ?? '') : '',
        spec?.volumeName ? accessModes(status?.accessModes) : '',
        spec?.storageClassName ?? '',
        spec?.volumeAttributesClassName ?? '<unset>',
        since(object.metadata.creationTimestamp, now),
        spec?.volumeMode ?? '<unset>',
      ];
    },
  },
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
  table: {
    columns: [
      nameColumn,
      text('Containers', 0, 'Names of the containers'),
      text('Images', 0, 'Images of the containers'),
      text('Pod Labels', 0, 'Labels of the pods'),
    ],
    cells(object) {
      const { template } = object;
      const containers = template?.spec?.containers;
      return [
        object.metadata.name ?? '',
        containerNames(containers),
        containerImages(containers),
        labelsText(template?.metadata?.labels),
      ];
    },
  },
});
