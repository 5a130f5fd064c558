import { type DisruptionIndex, FOLLOWED_KINDS } from '../../../decisions/disruption/index.ts';
import { type ControllerContext, type Following, followServed } from '../../../machinery/runtime/index.ts';

export interface GroupsOptions {
  readonly context: ControllerContext;
  readonly index: DisruptionIndex;
  /** Something that says what groups of these budgets are came, changed or went. */
  readonly changed: (namespace: string, budgets: readonly string[]) => void;
}

export type FollowedGroups = Following;

/** Keeps an index up to date about everything that says what a group is. */
export function followGroups({ changed, context, index }: GroupsOptions): FollowedGroups {
  const noting = (namespace: string, change: () => void): void => {
    change();
    changed(namespace, index.takeRegrouped(namespace));
  };
  return followServed({
    context,
    kinds: FOLLOWED_KINDS,
    seen: (row, object) => noting(object.metadata.namespace ?? '', () => row.set(index, object)),
    gone: (row, { metadata: { name = '', namespace = '' } }) =>
      noting(namespace, () => row.delete(index, namespace, name)),
    found: () => {
      const namespaces = new Set([...index.budgets()].map(({ namespace }) => namespace));
      for (const namespace of namespaces) changed(namespace, index.budgetsOverGroups(namespace));
    },
  });
}
