/** Namespaces the cluster cannot do without. Creating in a missing or dying namespace is refused by the verbs themselves. */
import type { AdmissionPlugin } from '../admission.ts';
import { forbidden } from '../status.ts';

const PROTECTED = new Set(['default', 'kube-system', 'kube-public']);

export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  handles: ({ row, operation, subresource }) =>
    row.group === '' && row.plural === 'namespaces' && operation === 'DELETE' && subresource === undefined,
  validate({ row, name, oldObject }) {
    const given = name ?? oldObject?.metadata.name ?? '';
    if (PROTECTED.has(given)) throw forbidden(row, given, 'this namespace may not be deleted');
  },
};
