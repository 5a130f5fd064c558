import type { JsonObject } from '../../machinery/values/index.ts';
import { type Dialect, refTo } from './dialect.ts';

export interface KindRef {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface Operation {
  readonly action: string;
  readonly kind: KindRef;
  readonly id: string;
  /** Name of the definition the body is of; undefined without a body. */
  readonly body?: string;
  readonly bodyTypes?: readonly string[];
  readonly answer: string;
  readonly query: readonly string[];
}

const QUERY: Readonly<Record<string, { type: 'string' | 'boolean' | 'integer'; description: string }>> = {
  allowWatchBookmarks: { type: 'boolean', description: 'Whether a watch may send bookmarks.' },
  continue: { type: 'string', description: 'Where the last chunk of a list ended.' },
  dryRun: { type: 'string', description: 'All: do everything except persist the outcome.' },
  fieldManager: { type: 'string', description: 'The name under which changed fields are owned.' },
  fieldSelector: { type: 'string', description: 'Restricts the list by fields.' },
  fieldValidation: {
    type: 'string',
    description: 'What to do about unknown and repeated fields: Ignore, Warn or Strict.',
  },
  force: { type: 'boolean', description: 'Take conflicting fields from their owners; for apply only.' },
  gracePeriodSeconds: { type: 'integer', description: 'Seconds before the object is removed.' },
  labelSelector: { type: 'string', description: 'Restricts the list by labels.' },
  limit: { type: 'integer', description: 'The most items of one chunk.' },
  orphanDependents: { type: 'boolean', description: 'Deprecated: use propagationPolicy.' },
  propagationPolicy: { type: 'string', description: 'What becomes of dependents: Orphan, Background or Foreground.' },
  resourceVersion: { type: 'string', description: 'The state of the store to answer from, or to watch from.' },
  resourceVersionMatch: { type: 'string', description: 'How resourceVersion binds a list.' },
  sendInitialEvents: { type: 'boolean', description: 'Begin a watch with the objects there are.' },
  timeoutSeconds: { type: 'integer', description: 'How long a watch may last.' },
  watch: { type: 'boolean', description: 'Follow changes instead of answering once.' },
};

const PRODUCED = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

function queryParameter(name: string, dialect: Dialect): JsonObject {
  const { type, description } = QUERY[name] ?? { type: 'string', description: name };
  const common = { name, in: 'query', description };
  return dialect === 'v2' ? { ...common, type, uniqueItems: true } : { ...common, schema: { type, uniqueItems: true } };
}

export function pathParameter(name: string, description: string, dialect: Dialect): JsonObject {
  const common = { name, in: 'path', description, required: true };
  return dialect === 'v2'
    ? { ...common, type: 'string', uniqueItems: true }
    : { ...common, schema: { type: 'string', uniqueItems: true } };
}

export function operationObject(operation: Operation, dialect: Dialect): JsonObject {
  const { action, kind, id, body, bodyTypes = ['application/json'], answer, query } = operation;
  const about: JsonObject = {
    operationId: id,
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { ...kind },
  };
  const parameters = query.map((name) => queryParameter(name, dialect));
  const schema = refTo(answer, dialect);
  if (dialect === 'v2') {
    const bodyParameter = { name: 'body', in: 'body', required: true, schema: body && refTo(body, dialect) };
    return {
      ...about,
      consumes: body === undefined ? ['*/*'] : bodyTypes,
      produces: PRODUCED,
      ...(parameters.length + (body === undefined ? 0 : 1) > 0 && {
        parameters: [...(body === undefined ? [] : [bodyParameter]), ...parameters],
      }),
      responses: { '200': { description: 'OK', schema } },
    };
  }
  const content = Object.fromEntries(PRODUCED.map((type) => [type, { schema }]));
  return {
    ...about,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: Object.fromEntries(bodyTypes.map((type) => [type, { schema: refTo(body, dialect) }])),
      },
    }),
    responses: { '200': { description: 'OK', content } },
  };
}
