import type { Transport } from '../../machinery/runtime/index.ts';

/** Somebody who looks at a dashboard, and how to ask the API server in their name. */
export interface DashboardUser {
  /** The same for everybody with the same rights: they share one feed. */
  readonly id: string;
  /** What the page calls them. */
  readonly name: string;
  readonly transport: Transport;
  /** Where to look when a kind may not be listed everywhere. */
  readonly namespaces: () => Promise<readonly string[]>;
}
