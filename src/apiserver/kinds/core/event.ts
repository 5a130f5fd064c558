/** Events, in the core spelling they are stored in and in that of events.k8s.io. */
import type { Event } from '../../../api/generated/core-v1.ts';
import { FieldPath, invalid, type Issue } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../exchange/object.ts';
import { nameColumn, since, table, text, wide } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';

const REFERENCE_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

export const eventStrategy = strategyOf<Event>({
  validate: validateEvent,
  createOnUpdate: true,
  garbageCollection: 'Unsupported',
  timeToLiveSeconds: 3600,
  fields(object) {
    const { involvedObject, reason, reportingComponent, source, type } = object;
    const fields: Record<string, string> = {
      reason: reason ?? '',
      reportingComponent: reportingComponent ?? '',
      source: source?.component || reportingComponent || '',
      type: type ?? '',
    };
    for (const name of REFERENCE_FIELDS) fields[`involvedObject.${name}`] = involvedObject?.[name] ?? '';
    return fields;
  },
  fieldAliases: {
    ...Object.fromEntries(REFERENCE_FIELDS.map((name) => [`regarding.${name}`, `involvedObject.${name}`])),
    reportingController: 'reportingComponent',
  },
  table: table([
    text('Last Seen', 'When it was last seen', (event, { now }) =>
      since(event.series?.lastObservedTime ?? event.lastTimestamp ?? firstSeen(event), now),
    ),
    text('Type', 'Normal or Warning', ({ type }) => type ?? ''),
    text('Reason', 'Why, in one word', ({ reason }) => reason ?? ''),
    text('Object', 'What it happened to', ({ involvedObject }) => {
      const kind = (involvedObject?.kind ?? '').toLowerCase();
      return involvedObject?.name ? `${kind}/${involvedObject.name}` : kind;
    }),
    wide(text('Subobject', 'Part of the object', ({ involvedObject }) => involvedObject?.fieldPath ?? '')),
    wide(
      text('Source', 'Who says so', ({ reportingComponent, source }) =>
        [source?.component || reportingComponent, source?.host].filter(Boolean).join(', '),
      ),
    ),
    text('Message', 'What happened', ({ message }) => (message ?? '').trim()),
    wide(text('First Seen', 'When it was first seen', (event, { now }) => since(firstSeen(event), now))),
    wide(text('Count', 'How often', ({ count, series }) => String(series?.count ?? count ?? 1))),
    wide(nameColumn),
  ]),
});

const firstSeen = ({ eventTime, firstTimestamp }: Event) => firstTimestamp ?? eventTime;

function validateEvent(object: Event): Issue[] {
  const { involvedObject } = object;
  const namespace = involvedObject?.namespace ?? '';
  const own = object.metadata.namespace ?? '';
  if (namespace === '' ? own === 'default' || own === 'kube-system' : namespace === own) return [];
  if (namespace === '') return [];
  return [invalid(FieldPath.of('involvedObject', 'namespace'), namespace, 'does not match event.namespace')];
}

/** From events.k8s.io/v1 to the stored spelling. */
export function eventToStored(given: ApiObject): ApiObject {
  const {
    regarding,
    note,
    deprecatedSource,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedCount,
    reportingController,
    ...rest
  } = given;
  return dropUndefined({
    ...rest,
    involvedObject: regarding ?? {},
    message: note,
    source: deprecatedSource ?? {},
    firstTimestamp: deprecatedFirstTimestamp,
    lastTimestamp: deprecatedLastTimestamp,
    count: deprecatedCount,
    reportingComponent: reportingController ?? '',
    reportingInstance: rest['reportingInstance'] ?? '',
  });
}

export function eventFromStored(stored: ApiObject): ApiObject {
  const { involvedObject, message, source, firstTimestamp, lastTimestamp, count, reportingComponent, ...rest } = stored;
  return dropUndefined({
    ...rest,
    regarding: involvedObject,
    note: message,
    deprecatedSource: source,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count,
    reportingController: reportingComponent,
  });
}

function dropUndefined(object: ApiObject): ApiObject {
  for (const [field, value] of Object.entries(object)) if (value === undefined) delete object[field];
  return object;
}
