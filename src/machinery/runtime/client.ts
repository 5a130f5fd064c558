import { apiVersionOf, type KubeObject, type ObjectKey, type ResourceType, resourcePath } from '../../api/resource.ts';
import { ApiError, type StatusBody } from './api-error.ts';
import { readBody, readLines, type Transport } from './transport.ts';

export interface ListOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  /** Asks for metadata alone: the objects come without spec and status. */
  readonly metadataOnly?: boolean | undefined;
  /** The caller never changes the objects: a server in this process need not copy them. */
  readonly shared?: boolean | undefined;
  /** Instead of the client's own. */
  readonly deadlineMs?: number | undefined;
}

export interface ObjectList<T> {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: T[];
}

export interface WatchOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly metadataOnly?: boolean | undefined;
  /** The caller never changes the objects: a server in this process need not copy them. */
  readonly shared?: boolean | undefined;
  /** Over the network: take events in so much later, together with those that came meanwhile. Default: at once. */
  readonly gatherMs?: number | undefined;
  /** Called when the server has agreed to tell. */
  readonly opened?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
const METADATA_ITEM = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

const PATCH_CONTENT: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

export interface WriteOptions {
  readonly subresource?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  readonly force?: boolean | undefined;
  /**
   * The caller changes neither the object it sends, which may be encoded once for many creates, nor the one it gets,
   * which a server in this process need not copy. That one may come without managedFields.
   */
  readonly shared?: boolean | undefined;
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Typed access to a Kubernetes API. Every failure the server reports is an ApiError. */
export interface Client {
  /** How many objects of a large list to ask for at once. */
  readonly pageSize: number;
  get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: { subresource?: string }): Promise<T>;
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<ObjectList<T>>;
  watch<T extends KubeObject>(type: ResourceType<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  update<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  updateStatus<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T>;
  patch<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: { type: PatchType; body: unknown },
    options?: WriteOptions,
  ): Promise<T>;
  delete<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: DeleteOptions): Promise<void>;
  deleteCollection<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions & DeleteOptions): Promise<void>;
  /** POST to a subresource of an object: eviction, binding, token. */
  createSubresource<R = unknown>(type: ResourceType, key: ObjectKey, subresource: string, body: unknown): Promise<R>;
  /** Any request by path, for discovery and what has no type here. */
  request<R = unknown>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<R>;
}

export interface ClientOptions {
  readonly transport: Transport;
  /** Also the default field manager: the part before the first `/`. */
  readonly userAgent: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly pageSize?: number | undefined;
  /** How long an answer may take, and the head of a watch, before the request fails. Default 30 s. */
  readonly deadlineMs?: number | undefined;
}

/** An API server answers within 34 s or gives up itself; whoever waits longer waits for nothing. */
export const DEADLINE_MS = 30_000;

/** Small enough: a page is in memory several times over while it is read. */
const PAGE_SIZE = 500;

export function createClient(options: ClientOptions): Client {
  const send = createSender(options);
  return {
    pageSize: options.pageSize ?? PAGE_SIZE,
    request: (method, path, body, headers) => send(method, path, body, { headers }),
    ...readsWith(send, options),
    ...writesWith(send),
  };
}

type Send = <R>(method: string, path: string, body?: unknown, options?: SendOptions) => Promise<R>;

interface SendOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly shared?: boolean | undefined;
  readonly deadlineMs?: number | undefined;
}

/** Sends one whole request and reads its whole answer; bytes go as they are, everything else as JSON. */
function createSender({ deadlineMs, headers: extraHeaders, transport, userAgent }: ClientOptions): Send {
  return async <R>(method: string, path: string, body?: unknown, options: SendOptions = {}): Promise<R> => {
    const payload = body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body);
    const response = await transport({
      method,
      path,
      headers: {
        accept: 'application/json',
        'user-agent': userAgent,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...extraHeaders,
        ...options.headers,
      },
      body: payload,
      shared: options.shared ?? false,
      whole: true,
      deadlineMs: options.deadlineMs ?? deadlineMs ?? DEADLINE_MS,
    });
    if (response.document !== undefined) return response.document as R;
    const text = (await readBody(response.body)).toString('utf8');
    if (response.status >= 400) throw toApiError(response.status, text);
    return (text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text) as R;
  };
}

function readsWith(send: Send, clientOptions: ClientOptions): Pick<Client, 'get' | 'list' | 'watch'> {
  return {
    get: (type, key, options) => send('GET', resourcePath(type, { ...key, ...options })),
    async list(type, options = {}) {
      const { deadlineMs, namespace, metadataOnly, shared, ...query } = options;
      const headers = metadataOnly === true ? { accept: METADATA_LIST } : {};
      const path = resourcePath(type, { namespace }) + formatQuery(query);
      type Answer = Omit<ObjectList<never>, 'items'> & { items: never[] | null };
      const list = await send<Answer>('GET', path, undefined, { headers, shared, deadlineMs });
      // Go writes an empty list of metadata as null.
      return { ...list, items: list.items ?? [] };
    },
    watch: (type, options) => watchResource(clientOptions, type, options),
  };
}

const fill = <T extends KubeObject>(type: ResourceType<T>, object: T): T => ({
  ...object,
  apiVersion: apiVersionOf(type),
  kind: type.kind,
});

function writesWith(send: Send): Omit<Client, 'pageSize' | 'request' | 'get' | 'list' | 'watch'> {
  /** Objects that are sent many times unchanged, encoded. */
  const encoded = new WeakMap<object, Uint8Array>();
  return {
    create(type, object, options) {
      const path = resourcePath(type, { namespace: object.metadata.namespace }) + writeQuery(options);
      if (options?.shared !== true) return send('POST', path, fill(type, object));
      const payload = encoded.get(object) ?? Buffer.from(JSON.stringify(fill(type, object)), 'utf8');
      encoded.set(object, payload);
      return send('POST', path, payload, { shared: true });
    },
    update(type, object, options) {
      const { namespace, name } = object.metadata;
      const path = resourcePath(type, { namespace, name, subresource: options?.subresource });
      return send('PUT', path + writeQuery(options), fill(type, object));
    },
    updateStatus(type, object) {
      const { namespace, name } = object.metadata;
      return send('PUT', resourcePath(type, { namespace, name, subresource: 'status' }), fill(type, object));
    },
    patch(type, key, patch, options) {
      const path = resourcePath(type, { ...key, subresource: options?.subresource });
      const headers = { 'content-type': PATCH_CONTENT[patch.type] };
      return send('PATCH', path + writeQuery(options), patch.body, { headers });
    },
    async delete(type, key, options) {
      await send('DELETE', resourcePath(type, key), deleteBody(options), { shared: true });
    },
    async deleteCollection(type, options = {}) {
      const {
        deadlineMs,
        fieldSelector,
        labelSelector,
        metadataOnly: _,
        namespace,
        shared: _shared,
        ...rest
      } = options;
      const path = resourcePath(type, { namespace }) + formatQuery({ labelSelector, fieldSelector });
      await send('DELETE', path, deleteBody(rest), { deadlineMs });
    },
    createSubresource: (type, key, subresource, body) =>
      send('POST', resourcePath(type, { ...key, subresource }), body),
  };
}

async function* watchResource<T extends KubeObject>(
  { deadlineMs = DEADLINE_MS, headers: extraHeaders, transport, userAgent }: ClientOptions,
  type: ResourceType<T>,
  options: WatchOptions = {},
): AsyncGenerator<WatchEvent<T>> {
  const { gatherMs, namespace, opened, signal, sendInitialEvents, metadataOnly, shared, ...query } = options;
  const path =
    resourcePath(type, { namespace }) +
    formatQuery({
      ...query,
      watch: true,
      allowWatchBookmarks: true,
      ...(sendInitialEvents === undefined ? {} : { sendInitialEvents, resourceVersionMatch: 'NotOlderThan' }),
    });
  const response = await transport({
    method: 'GET',
    path,
    headers: {
      accept: metadataOnly === true ? METADATA_ITEM : 'application/json',
      'user-agent': userAgent,
      ...extraHeaders,
    },
    signal,
    shared,
    gatherMs,
    deadlineMs,
  });
  if (response.status >= 400) {
    throw toApiError(response.status, (await readBody(response.body)).toString('utf8'));
  }
  opened?.();
  if (response.events !== undefined) {
    for await (const events of response.events) for (const event of events) yield checked(event as WatchEvent<T>);
    return;
  }
  for await (const line of readLines(response.body)) yield checked(JSON.parse(line) as WatchEvent<T>);
}

function checked<T>(event: WatchEvent<T>): WatchEvent<T> {
  if (event.type !== 'ERROR') return event;
  const status = event.object as StatusBody;
  throw new ApiError(status.code ?? 500, status);
}

function toApiError(code: number, text: string): ApiError {
  try {
    const body = JSON.parse(text) as StatusBody;
    if (body.kind === 'Status') return new ApiError(code, body);
  } catch {
    // Not a Status: a proxy or a plain-text endpoint answered.
  }
  return new ApiError(code, { code, message: text.trim().slice(0, 500) || `the server answered with status ${code}` });
}

function formatQuery(values: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

function writeQuery(options: WriteOptions | undefined): string {
  if (options === undefined) return '';
  return formatQuery({
    fieldManager: options.fieldManager,
    force: options.force,
    dryRun: options.dryRun === true ? 'All' : undefined,
  });
}

function deleteBody(options: DeleteOptions | undefined): object | undefined {
  if (options === undefined) return undefined;
  const { dryRun, limit: _limit, ...rest } = options as DeleteOptions & { limit?: number };
  return { kind: 'DeleteOptions', apiVersion: 'v1', ...rest, ...(dryRun === true ? { dryRun: ['All'] } : {}) };
}
