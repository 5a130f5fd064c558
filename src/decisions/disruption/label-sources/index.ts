/** Every kind that knows something about groups which labels mark. To add one, write its file and name it here. */
import { jobSource } from './job.ts';
import type { LabelSource } from './label-source.ts';
import { leaderStatefulSetSource } from './leader-stateful-set.ts';
import { leaderWorkerSetSources } from './leader-worker-set.ts';

export type { LabelSource, SaidOfGroup } from './label-source.ts';

export const LABEL_SOURCES: readonly LabelSource[] = [leaderStatefulSetSource, ...leaderWorkerSetSources, jobSource];
