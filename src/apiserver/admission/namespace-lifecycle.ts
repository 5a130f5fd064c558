/** Namespaces the cluster cannot do without. Creating in a missing or dying namespace is refused by the verbs themselves. */
import type { AdmissionPlugin } from '../context/admission-plugin.ts';
import { forbidden } from '../exchange/status.ts';

const PROTECTED = new Set(['default', 'kube-system', 'kube-public']);

export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  handles: ({ resource, operation, subresource }) =>
    resource.group === '' && resource.plural === 'namespaces' && operation === 'DELETE' && subresource === undefined,
  validate({ resource, name, oldObject }) {
    const given = name ?? oldObject?.metadata.name ?? '';
    if (PROTECTED.has(given)) throw forbidden(resource, given, 'this namespace may not be deleted');
  },
};
