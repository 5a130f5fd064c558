/** A namespace that is missing or going away takes nothing new. */
import type { Entry, Transaction } from '../../storage/index.ts';
import type { Kernel } from '../kernel.ts';
import { objectKey, type ResourceRow } from '../registry/row.ts';
import { forbidden, notFound, type Subject } from '../status.ts';

const NAMESPACES: Subject = { group: '', plural: 'namespaces', kind: 'Namespace' };

export function checkNamespace(
  kernel: Kernel,
  read: Pick<Transaction, 'get'>,
  { row, namespace, name }: { row: ResourceRow; namespace: string | undefined; name: string | undefined },
): void {
  if (!row.namespaced || namespace === undefined) return;
  const namespaces = kernel.registry.byPlural('', 'namespaces');
  if (namespaces === undefined) return;
  const entry: Entry | undefined = read.get(keyOf(namespaces, namespace));
  if (entry === undefined) throw notFound(NAMESPACES, namespace);
  if (kernel.objects.readOften(entry).metadata.deletionTimestamp) {
    throw forbidden(
      row,
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

let last: { readonly row: ResourceRow; readonly namespace: string; readonly key: string } | undefined;

/** Every create asks twice, and mostly for the namespace of the one before: a known key is found without hashing it. */
function keyOf(row: ResourceRow, namespace: string): string {
  if (last?.row !== row || last.namespace !== namespace) {
    last = { row, namespace, key: objectKey(row, undefined, namespace) };
  }
  return last.key;
}
