import type { Stage } from '../stage.ts';
import { generalPodStages } from './pod.ts';

/** `general` takes its time as a kubelet does; `instant` waits only where the pod itself asks for it. */
export type Profile = 'general' | 'instant';

const withoutPauses = (stage: Stage): Stage => {
  const { ms: _ms, jitterMs: _jitterMs, ...delay } = stage.delay;
  return { ...stage, delay };
};

export const podStages: Readonly<Record<Profile, readonly Stage[]>> = {
  general: generalPodStages,
  instant: generalPodStages.map((stage) => (stage.name === 'pod-pull-back-off' ? stage : withoutPauses(stage))),
};
