/** A namespace that is missing or going away takes nothing new. */
import type { StoredEntry, Transaction } from '../../storage/index.ts';
import type { StoredReads } from './kind-view.ts';
import { objectKey, type Resource } from '../registry/resource.ts';
import { forbidden, notFound, type ErrorSubject } from '../exchange/status.ts';

const NAMESPACES: ErrorSubject = { group: '', plural: 'namespaces', kind: 'Namespace' };

export function checkNamespace(
  stored: StoredReads,
  read: Pick<Transaction, 'get'>,
  { resource, namespace, name }: { resource: Resource; namespace: string | undefined; name: string | undefined },
): void {
  if (!resource.namespaced || namespace === undefined) return;
  const namespaces = stored.registry.byPlural('', 'namespaces');
  if (namespaces === undefined) return;
  const entry: StoredEntry | undefined = read.get(keyOf(namespaces, namespace));
  if (entry === undefined) throw notFound(NAMESPACES, namespace);
  if (stored.objects.readOften(entry).metadata.deletionTimestamp) {
    throw forbidden(
      resource,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    );
  }
}

let last: { readonly resource: Resource; readonly namespace: string; readonly key: string } | undefined;

/** Every create asks twice, and mostly for the namespace of the one before: a known key is found without hashing it. */
function keyOf(resource: Resource, namespace: string): string {
  if (last?.resource !== resource || last.namespace !== namespace) {
    last = { resource, namespace, key: objectKey(resource, undefined, namespace) };
  }
  return last.key;
}
