/** Strategy of the kind CustomResourceDefinition itself. */
import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { nameColumn, table, text } from '../registry/columns.ts';
import { strategyOf } from '../registry/strategy.ts';
import { validateDefinition, validateDefinitionUpdate } from './validation.ts';

export const definitionStrategy = strategyOf<CustomResourceDefinition>({
  defaults(object) {
    const { spec } = object;
    if (spec === undefined) return;
    if (spec.names !== undefined) {
      if (!spec.names.singular && spec.names.kind) spec.names.singular = spec.names.kind.toLowerCase();
      if (!spec.names.listKind && spec.names.kind) spec.names.listKind = `${spec.names.kind}List`;
    }
    if (!spec.conversion?.strategy) spec.conversion = { ...spec.conversion, strategy: 'None' };
    const service = spec.conversion.webhook?.clientConfig?.service;
    if (service !== undefined) service.port ??= 443;
    delete spec.preserveUnknownFields;
  },
  prepareForCreate(object) {
    const definition = object;
    const storage = definition.spec?.versions?.find((version) => version.storage)?.name;
    definition.status = {
      conditions: [],
      acceptedNames: { plural: '', kind: '' },
      storedVersions: storage === undefined ? [] : [storage],
    };
  },
  prepareForUpdate(object) {
    const definition = object;
    const storage = definition.spec?.versions?.find((version) => version.storage)?.name;
    const stored = definition.status?.storedVersions ?? [];
    if (storage !== undefined && !stored.includes(storage)) {
      definition.status = { ...definition.status, storedVersions: [...stored, storage] };
    }
  },
  validate: (object) => validateDefinition(object),
  validateUpdate: (object, old) => [...validateDefinition(object, old), ...validateDefinitionUpdate(object, old)],
  ratchets: true,
  generation: 'spec',
  table: table([
    nameColumn,
    {
      ...text('Created At', 'When the object was created', ({ metadata }) => metadata.creationTimestamp ?? ''),
      type: 'date',
    },
  ]),
});
