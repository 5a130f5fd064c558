import type { ManagedFieldsEntry } from '../../api/generated/meta-v1.ts';

interface Written {
  readonly metadata: { readonly managedFields?: ManagedFieldsEntry[] | undefined };
}

/**
 * Who else answers requests, told from who wrote `status.observedGeneration`: nobody but a controller does. A later
 * Kubernetes brings one, and two would take turns at undoing each other.
 */
export function otherController(objects: readonly Written[], own: string): string | undefined {
  for (const { metadata } of objects) {
    for (const { fieldsV1, manager, subresource } of metadata.managedFields ?? []) {
      const status = (fieldsV1 as Record<string, Record<string, unknown> | undefined> | undefined)?.['f:status'];
      const isTheirs = subresource === 'status' && manager !== undefined && manager !== own;
      if (isTheirs && status?.['f:observedGeneration'] !== undefined) return manager;
    }
  }
  return undefined;
}
