/** Volumes and claims get a finalizer when they are made: a controller takes it away once nothing uses them. */
import type { AdmissionPlugin } from '../context/admission-plugin.ts';

const FINALIZERS: Readonly<Record<string, string>> = {
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  '/persistentvolumes': 'kubernetes.io/pv-protection',
};

export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: ({ operation, resource, subresource }) =>
    operation === 'CREATE' && subresource === undefined && `${resource.group}/${resource.plural}` in FINALIZERS,
  admit({ object, resource }) {
    const finalizer = FINALIZERS[`${resource.group}/${resource.plural}`];
    if (object === undefined || finalizer === undefined) return;
    const finalizers = object.metadata.finalizers ?? [];
    if (!finalizers.includes(finalizer)) object.metadata.finalizers = [...finalizers, finalizer];
  },
};
