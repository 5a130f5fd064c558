import type { Namespace } from '../../../api/generated/core-v1.ts';
import { checkDnsLabel } from '../../../machinery/values/index.ts';
import { ageColumn, nameColumn, table, text } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';

function labelWithName(object: Namespace): void {
  const { name } = object.metadata;
  if (name) object.metadata.labels = { ...object.metadata.labels, [NAME_LABEL]: name };
}

export const namespaceStrategy = strategyOf<Namespace>({
  defaults(object) {
    labelWithName(object);
    object.spec ??= {};
    object.status ??= {};
    object.status.phase ||= 'Active';
  },
  prepareForCreate(object) {
    object.status = { phase: 'Active' };
    const finalizers = object.spec?.finalizers ?? [];
    object.spec = {
      ...object.spec,
      finalizers: finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'],
    };
    labelWithName(object);
  },
  prepareForUpdate(object, old) {
    object.spec = { ...object.spec };
    const finalizers = old.spec?.finalizers;
    if (finalizers === undefined) delete object.spec.finalizers;
    else object.spec.finalizers = finalizers;
    labelWithName(object);
  },
  checkName: checkDnsLabel,
  specFinalizers: (object) => object.spec?.finalizers ?? [],
  markDeleting(object) {
    object.status = { ...object.status, phase: 'Terminating' };
  },
  deleteReturnsObject: true,
  fields: (object) => ({ 'status.phase': object.status?.phase ?? '' }),
  table: table([nameColumn, text('Status', 'Phase of the namespace', ({ status }) => status?.phase ?? ''), ageColumn]),
});
