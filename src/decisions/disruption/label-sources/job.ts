import { jobType } from '../../../api/resource-types.ts';
import type { LabelSource } from './label-source.ts';

/** A Job knows how many pods it is made of. */
export const jobSource: LabelSource = {
  type: jobType,
  read(object) {
    const { spec } = object as { spec?: { parallelism?: number; completions?: number } };
    const parallelism = spec?.parallelism ?? 1;
    const size = Math.min(parallelism, spec?.completions ?? parallelism);
    return { key: `Job/${object.metadata.name ?? ''}`, source: { size } };
  },
};
