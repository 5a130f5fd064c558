// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { EventSource, ObjectReference } from './core-v1.ts';
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface Event {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  eventTime: string;
  series?: EventSeries | undefined;
  reportingController?: string | undefined;
  reportingInstance?: string | undefined;
  action?: string | undefined;
  reason?: string | undefined;
  regarding?: ObjectReference | undefined;
  related?: ObjectReference | undefined;
  note?: string | undefined;
  type?: string | undefined;
  deprecatedSource?: EventSource | undefined;
  deprecatedFirstTimestamp?: string | undefined;
  deprecatedLastTimestamp?: string | undefined;
  deprecatedCount?: number | undefined;
}

export interface EventList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Event[];
}

export interface EventSeries {
  count: number;
  lastObservedTime: string;
}
