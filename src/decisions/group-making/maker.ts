import type { GroupAbilities, WantedGroup } from './wanted.ts';

/** What became of a group that a pod is to join. */
export type EnsuredGroup =
  | { readonly reason: 'Ready'; readonly name: string }
  /** One of its name is on its way out: a pod that names it would be in no group soon. */
  | { readonly reason: 'Going'; readonly name: string }
  /** The owner's own controller makes groups, pods of the owner run without one, or the name is somebody else's. */
  | { readonly reason: 'MadeByOthers' | 'StartedWithout' | 'NameTaken' }
  /** The API server will not have it. */
  | { readonly reason: 'Refused'; readonly message: string };

/** Makes groups where they are not there yet. */
export interface GroupMaker {
  readonly abilities: GroupAbilities;
  /** Pods name their group by a field; otherwise, where API servers drop it, by an annotation. */
  readonly keepsField: boolean;
  ensure(wanted: WantedGroup, options?: { readonly dryRun?: boolean | undefined }): Promise<EnsuredGroup>;
}
