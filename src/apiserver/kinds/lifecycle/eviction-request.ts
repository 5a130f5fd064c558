import type { EvictionRequest } from '../../../api/generated/lifecycle-v1alpha1.ts';
import { validateEvictionRequest, validateEvictionRequestStatus } from '../../../api/lifecycle/index.ts';
import { ageColumn, nameColumn, table, text } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { keepMetadata, statusColumn, targetColumns } from './shared.ts';

export const evictionRequestStrategy = strategyOf<EvictionRequest>({
  prepareForCreate(object) {
    delete object.status;
  },
  prepareForStatusUpdate: (object, old) => keepMetadata(object, old),
  validate: (object) => validateEvictionRequest(object),
  ratchets: true,
  validateUpdate: (object, old) => validateEvictionRequest(object, old),
  validateStatusUpdate: (object, old) => validateEvictionRequestStatus(object, old),
  generation: 'spec',
  unconditionalUpdate: false,
  table: table([
    nameColumn,
    ...targetColumns<EvictionRequest>(),
    statusColumn,
    text('Requester', 'Who asks', ({ spec }) => spec?.requester ?? ''),
    text('Intent', 'Eviction, or Withdrawn', ({ spec }) => spec?.intent ?? ''),
    ageColumn,
  ]),
});
