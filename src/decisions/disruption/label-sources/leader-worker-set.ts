import {
  fromKruise,
  type KruiseLeaderWorkerSet,
  kruiseLeaderWorkerSetType,
  type LeaderWorkerSet,
  leaderWorkerSetType,
} from '../../../api/lws/types.ts';
import type { ResourceType } from '../../../api/resource.ts';
import type { LabelSource, SaidOfGroup } from './label-source.ts';

/** A LeaderWorkerSet knows how many groups it wants, and how many pods each has; under either of its API groups. */
export const leaderWorkerSetSources: readonly LabelSource[] = [
  { type: leaderWorkerSetType as ResourceType, builtIn: false, read: (set) => read(set as LeaderWorkerSet) },
  {
    type: kruiseLeaderWorkerSetType as ResourceType,
    builtIn: false,
    read: (set) => read(fromKruise(set as KruiseLeaderWorkerSet)),
  },
];

function read({ metadata, spec }: LeaderWorkerSet): SaidOfGroup {
  const source = { replicas: spec?.replicas ?? 1, size: spec?.leaderWorkerTemplate?.size ?? 1 };
  return { key: `LeaderWorkerSet/${metadata.name ?? ''}`, source };
}
