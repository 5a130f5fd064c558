import type { Namespace } from '../../../api/generated/core-v1.ts';
import { checkDnsLabel } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { ageColumn, nameColumn, since, text } from '../columns.ts';

const asNamespace = (object: ApiObject): Namespace => object as unknown as Namespace;

const NAME_LABEL = 'kubernetes.io/metadata.name';

function labelWithName(object: ApiObject): void {
  const { name } = object.metadata;
  if (name) object.metadata.labels = { ...object.metadata.labels, [NAME_LABEL]: name };
}

export const namespaceStrategy: Strategy = {
  defaults(object) {
    labelWithName(object);
    const namespace = asNamespace(object);
    namespace.spec ??= {};
    namespace.status ??= {};
    namespace.status.phase ||= 'Active';
  },
  prepareForCreate(object) {
    const namespace = asNamespace(object);
    namespace.status = { phase: 'Active' };
    const finalizers = namespace.spec?.finalizers ?? [];
    namespace.spec = {
      ...namespace.spec,
      finalizers: finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'],
    };
    labelWithName(object);
  },
  prepareForUpdate(object, old) {
    const namespace = asNamespace(object);
    namespace.spec = { ...namespace.spec };
    const finalizers = asNamespace(old).spec?.finalizers;
    if (finalizers === undefined) delete namespace.spec.finalizers;
    else namespace.spec.finalizers = finalizers;
    labelWithName(object);
  },
  checkName: checkDnsLabel,
  specFinalizers: (object) => asNamespace(object).spec?.finalizers ?? [],
  markDeleting(object) {
    const namespace = asNamespace(object);
    namespace.status = { ...namespace.status, phase: 'Terminating' };
  },
  deleteReturnsObject: true,
  fields: (object) => ({ 'status.phase': asNamespace(object).status?.phase ?? '' }),
  table: {
    columns: [nameColumn, text('Status', 0, 'Phase of the namespace'), ageColumn],
    cells: (object, now) => [
      object.metadata.name ?? '',
      asNamespace(object).status?.phase ?? '',
      since(object.metadata.creationTimestamp, now),
    ],
  },
};
