/** What EvictionRequest and Eviction have in common. */
import { FAILED, isTrue, TARGET_EVICTED } from '../../../api/lifecycle/index.ts';
import type { Condition, ObjectMeta } from '../../../api/generated/meta-v1.ts';
import { type CellColumn, text } from '../../registry/columns.ts';

interface Kind {
  metadata: ObjectMeta;
  spec?: { target?: { pod?: { name: string } | undefined } | undefined } | undefined;
  status?: { conditions?: Condition[] | undefined; observedGeneration?: number | undefined } | undefined;
}

export const UNSET = '<unset>';

/** Who may write status may not write labels and the like with it. */
export function keepMetadata({ metadata }: Kind, { metadata: old }: Kind): void {
  for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
    if (old[field] === undefined) delete metadata[field];
    else (metadata as Record<string, unknown>)[field] = old[field];
  }
}

export const targetColumns = <T extends Kind>(): CellColumn<T>[] => [
  text('Target', 'What is to go', ({ spec }) => spec?.target?.pod?.name ?? UNSET),
  text('Target Type', 'Its kind', ({ spec }) => (spec?.target?.pod === undefined ? UNSET : 'Pod')),
];

export const statusColumn: CellColumn<Kind> = text('Status', 'What has become of it', ({ status }) => {
  for (const type of [TARGET_EVICTED, FAILED]) {
    if (!isTrue(status?.conditions, type)) continue;
    return `${type} (${status?.conditions?.find((condition) => condition.type === type)?.reason ?? ''})`;
  }
  return (status?.observedGeneration ?? 0) > 0 ? 'Progressing' : 'Pending';
});
