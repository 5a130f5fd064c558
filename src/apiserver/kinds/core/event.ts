/** Events, in the core spelling they are stored in and in that of events.k8s.io. */
import type { Event } from '../../../api/generated/core-v1.ts';
import { FieldPath, invalid, type Issue } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../exchange/object.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { since, text } from '../columns.ts';

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
  table: {
    columns: [
      text('Last Seen', 0, 'When it was last seen'),
      text('Type', 0, 'Normal or Warning'),
      text('Reason', 0, 'Why, in one word'),
      text('Object', 0, 'What it happened to'),
      text('Subobject', 1, 'Part of the object'),
      text('Source', 1, 'Who says so'),
      text('Message', 0, 'What happened'),
      text('First Seen', 1, 'When it was first seen'),
      text('Count', 1, 'How often'),
      { name: 'Name', type: 'string', format: 'name', priority: 1, description: 'Name of the object' },
    ],
    cells(object, now) {
      const { involvedObject, source } = object;
      const micro = object.eventTime as string | undefined;
      const first = (object.firstTimestamp as string | undefined) ?? micro;
      const last = (object.lastTimestamp as string | undefined) ?? first;
      const seen = object.series?.lastObservedTime as string | undefined;
      const count = object.series?.count ?? object.count ?? 1;
      const kind = (involvedObject?.kind ?? '').toLowerCase();
      const from = [source?.component || object.reportingComponent, source?.host].filter(Boolean).join(', ');
      return [
        since(seen ?? last, now),
        object.type ?? '',
        object.reason ?? '',
        involvedObject?.name ? `${kind}/${involvedObject.name}` : kind,
        involvedObject?.fieldPath ?? '',
        from,
        (object.message ?? '').trim(),
        since(first, now),
        String(count),
        object.metadata.name ?? '',
      ];
    },
  },
});

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
