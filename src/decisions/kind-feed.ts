import type { KubeObject, ResourceType } from '../api/resource.ts';

/** A kind whose objects an index must know of. Whoever keeps such an index goes by a table of these. */
export interface KindFeed<Index, Role extends string> {
  readonly kind: string;
  /** Where its objects are read, best first: the first that is served has all of them. */
  readonly types: readonly ResourceType[];
  /** Every Kubernetes serves it. */
  readonly builtIn: boolean;
  /** What its objects are to a budget. */
  readonly role: Role;
  readonly set: (index: Index, object: KubeObject) => void;
  readonly delete: (index: Index, namespace: string, name: string) => void;
}
