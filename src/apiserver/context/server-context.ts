/** What every handler shares: one per server. */
import type { Clock, Logger } from '../../machinery/runtime/index.ts';
import type { Store } from '../../storage/index.ts';
import type { Authorizer } from '../access/access.ts';
import type { AdmissionPlugin } from './admission-plugin.ts';
import type { Codec } from './codec.ts';
import type { Meters } from '../measure/meters.ts';
import type { Registry } from '../registry/registry.ts';
import type { ObjectCache } from '../stored/object-cache.ts';
import type { PendingWrites } from '../stored/pending-writes.ts';
import type { WatchLines } from '../stored/watch-lines.ts';

export interface ServerContext {
  readonly store: Store;
  /** What transactions write, before it is on disk. */
  readonly writes: PendingWrites;
  readonly registry: Registry;
  readonly admission: readonly AdmissionPlugin[];
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  readonly log: Logger;
  readonly objects: ObjectCache;
  readonly codec: Codec;
  readonly random: () => number;
  readonly newUid: () => string;
  readonly lines: WatchLines;
  readonly meters: Meters;
  /** How to end each open watch; the server calls them when it stops. */
  readonly streams: Set<() => void>;
}
