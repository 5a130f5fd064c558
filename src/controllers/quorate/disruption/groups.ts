import { type DisruptionIndex, FOLLOWED_KINDS } from '../../../decisions/disruption/index.ts';
import { type ControllerContext, type Following, followServed } from '../../../machinery/runtime/index.ts';

export interface GroupsOptions {
  readonly context: ControllerContext;
  readonly index: DisruptionIndex;
  /** Something that says what a group of the namespace is came, changed or went. */
  readonly changed: (namespace: string) => void;
}

export type FollowedGroups = Following;

/** Keeps an index up to date about everything that says what a group is. */
export function followGroups({ changed, context, index }: GroupsOptions): FollowedGroups {
  const noting = (namespace: string, change: () => void): void => {
    const before = index.groupRevision(namespace);
    change();
    if (index.groupRevision(namespace) !== before) changed(namespace);
  };
  return followServed({
    context,
    kinds: FOLLOWED_KINDS,
    seen: (row, object) => noting(object.metadata.namespace ?? '', () => row.set(index, object)),
    gone: (row, { metadata: { name = '', namespace = '' } }) =>
      noting(namespace, () => row.delete(index, namespace, name)),
    found: () => {
      for (const { namespace } of index.budgets()) changed(namespace);
    },
  });
}
