/** Conversions at the edge for kinds that are served in more versions than they are stored in. */
import type { ServedVersion } from '../registry/resource.ts';
import { autoscalerFromStored, autoscalerToStored } from './autoscaling/horizontal-pod-autoscaler.ts';
import { eventFromStored, eventToStored } from './core/event.ts';
import { budgetConversion } from './policy/pod-disruption-budget.ts';
import { groupConversions } from './scheduling/conversions.ts';

export type Conversion = Pick<ServedVersion, 'toStored' | 'fromStored' | 'carry' | 'needsRevision'>;

/** By `group/Kind/version`; versions that differ from the stored one only in `apiVersion` need no entry. */
export const conversions: Readonly<Record<string, Conversion>> = {
  'events.k8s.io/Event/v1': { toStored: eventToStored, fromStored: eventFromStored },
  'autoscaling/HorizontalPodAutoscaler/v1': { toStored: autoscalerToStored, fromStored: autoscalerFromStored },
  'policy/PodDisruptionBudget/v1beta1': budgetConversion,
  ...groupConversions,
};
