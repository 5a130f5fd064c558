import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import type { GroupSource } from '../group-facts.ts';

/** What an object says about a group that labels mark: the group's key, such as `Job/train`, and its size or number. */
export interface SaidOfGroup {
  readonly key: string;
  readonly source: GroupSource;
}

/** A kind whose objects know the size or the number of groups that only labels mark. */
export interface LabelSource {
  readonly type: ResourceType;
  /** False for a kind that not every cluster has. */
  readonly builtIn?: boolean;
  /** Undefined for an object that says nothing about groups. */
  readonly read: (object: KubeObject) => SaidOfGroup | undefined;
}
