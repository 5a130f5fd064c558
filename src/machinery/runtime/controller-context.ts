import type { Random } from '../values/index.ts';
import type { Client } from './client.ts';
import type { Clock } from './clock.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { InformerSet } from './informer-set.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Where controllers get their caches from. */
export type Informers = Pick<InformerSet, 'of' | 'finding'>;

/** Everything a controller may touch. It cannot tell which host it runs on. */
export interface ControllerContext {
  readonly client: Client;
  /** A client that acts as the named component, where the host tells components apart. */
  readonly clientFor: (component: string) => Client;
  readonly informers: Informers;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Records an Event as coming from the named component. */
  readonly eventsFor: (component: string) => EventRecorder;
  readonly random: Random;
  /** Aborts when the process or plane stops. */
  readonly signal: AbortSignal;
  /** Where several replicas run: resolves when this one may write. Caches fill before that. Absent: at once. */
  readonly leading?: Promise<void> | undefined;
}
