import type { NodeFacts } from './node-facts.ts';
import type { PodFacts } from './pod-facts.ts';

/** The nodes one spread rule counts on, and their domains. */
export interface SpreadFrame {
  readonly nodes: ReadonlySet<NodeFacts>;
  readonly domains: readonly string[];
}

export interface Placed {
  readonly pod: PodFacts;
  readonly node: NodeFacts;
}
