import { deepClone } from '../../machinery/values/index.ts';
import type { StoredEntry } from '../../storage/index.ts';
import type { Call } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import { apiVersion, collectionPrefix, objectKey } from '../registry/resource.ts';
import { decodeContinue, encodeContinue } from '../request/continue-token.ts';
import { type Accepted, negotiate, type Transform } from '../request/negotiate.ts';
import { integerOption } from '../request/options.ts';
import { parseListRevision, waitForRevision } from './revision.ts';
import { parseSelectors, type Selection, selectionOf } from './selection.ts';
import { partialMetadata } from '../response/partial.ts';
import { encodeAnswer, isPretty } from '../response/respond.ts';
import { withWarnings } from '../response/warnings.ts';
import { includeObjectOption, findStored, tableLayoutOf, tableOf, tableSource } from '../response/table.ts';
import { badRequest, expired } from '../exchange/status.ts';
import { allInVersion, isStoredForm, storedHead } from '../stored/encoding.ts';

export const LIST_TRANSFORMS: ReadonlySet<Transform> = new Set<Transform>(['Table', 'PartialObjectMetadataList']);

export interface ListMetadata {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

export async function list(call: Call): Promise<ApiResponse> {
  const accepted = negotiate(call.request.headers['accept'], {
    allowed: LIST_TRANSFORMS,
    protobuf: !call.resource.custom,
  });
  const { entries, metadata } = await readPage(call);
  const { resource, version, context } = call;
  if (call.request.shared === true && accepted.transform !== 'Table')
    return sharedList(call, accepted, entries, metadata);
  if (
    accepted.transform === undefined &&
    accepted.format === 'json' &&
    isStoredForm(resource, version) &&
    !isPretty(call)
  ) {
    return listFromBytes(call, entries, metadata);
  }
  const stored = entries.map((entry) => context.objects.read(entry));
  const showing = allInVersion(call, stored, deepClone);
  const objects = showing instanceof Promise ? await showing : showing;
  if (accepted.transform === 'Table') {
    const table = tableOf(objects, {
      layout: tableLayoutOf(resource, version),
      stored: tableSource(resource, version, stored),
      find: findStored(context),
      now: context.clock.now(),
      include: includeObjectOption(call.options.query),
      apiVersion: `meta.k8s.io/${accepted.transformVersion}`,
      metadata,
    });
    return encodeAnswer(call, 200, table, accepted);
  }
  if (accepted.transform === 'PartialObjectMetadataList') {
    const items = objects.map((object) => partialMetadata(object, accepted.transformVersion));
    const kind = 'PartialObjectMetadataList';
    return encodeAnswer(
      call,
      200,
      { kind, apiVersion: `meta.k8s.io/${accepted.transformVersion}`, metadata, items },
      accepted,
    );
  }
  const items = resource.custom ? objects : objects.map(({ kind: _kind, apiVersion: _version, ...rest }) => rest);
  return encodeAnswer(
    call,
    200,
    { kind: resource.listKind, apiVersion: apiVersion(resource.group, version.name), metadata, items },
    accepted,
  );
}

/** The objects themselves, for a caller that never changes them. */
async function sharedList(
  call: Call,
  { transform, transformVersion }: Accepted,
  entries: readonly StoredEntry[],
  metadata: ListMetadata,
): Promise<ApiResponse> {
  const stored = entries.map((entry) => call.context.objects.readWithoutManagedFields(entry));
  const showing = allInVersion(call, stored, deepClone);
  const objects = showing instanceof Promise ? await showing : showing;
  const items = transform === undefined ? objects : objects.map((object) => partialMetadata(object, transformVersion));
  return { status: 200, headers: {}, body: [], document: { metadata, items } };
}

const COMMA = Buffer.from(',');
const COMMA_OPEN = Buffer.from(',{');
const CLOSE = Buffer.from(']}\n');

/** The list put together from stored bytes; nothing is decoded or copied here. */
function listFromBytes(call: Call, entries: readonly StoredEntry[], metadata: ListMetadata): ApiResponse {
  const { resource, version, warnings } = call;
  const head = `{"kind":${JSON.stringify(resource.listKind)},"apiVersion":${JSON.stringify(apiVersion(resource.group, version.name))},"metadata":${JSON.stringify(metadata)},"items":[`;
  const cut = resource.custom ? 0 : Buffer.byteLength(storedHead(resource));
  const chunks: Uint8Array[] = [Buffer.from(cut > 0 && entries.length > 0 ? `${head}{` : head)];
  const separator = cut > 0 ? COMMA_OPEN : COMMA;
  entries.forEach((entry, index) => {
    if (index > 0) chunks.push(separator);
    chunks.push(cut > 0 ? entry.value.subarray(cut) : entry.value);
  });
  chunks.push(CLOSE);
  return { status: 200, headers: withWarnings({ 'content-type': 'application/json' }, warnings), body: chunks };
}

export interface ListedPage {
  readonly entries: readonly StoredEntry[];
  readonly metadata: ListMetadata;
}

async function readPage(call: Call): Promise<ListedPage> {
  const { context, resource, info } = call;
  const { query } = call.options;
  const selectors = parseSelectors(query);
  const asked = integerOption(query, 'limit') ?? 0;
  // Lists are answered at once; the option is only checked.
  integerOption(query, 'timeoutSeconds');
  const revision = parseListRevision(query, asked);
  const selection = selectionOf(selectors, { resource, objects: context.objects });
  const limit = revision.ignoreLimit ? 0 : asked;
  const token = query.get('continue');
  if (token && query.get('resourceVersion') && query.get('resourceVersion') !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  if (revision.atLeast !== undefined) await waitForRevision(context, revision.atLeast, call.request.signal);
  if (revision.exact !== undefined) await waitForRevision(context, revision.exact, call.request.signal);

  const prefix = collectionPrefix(resource, info.namespace ?? (resource.namespaced ? selection.namespace : undefined));
  if (token) {
    const point = decodeContinue(token);
    if (!`${resource.prefix}${point.after}`.startsWith(prefix))
      throw badRequest('continue key does not belong to this list');
    const at = point.revision === -1 ? context.store.revision : point.revision;
    return pageAt(call, selection, { prefix, limit, at, after: `${resource.prefix}${point.after}` });
  }
  if (limit > 0 || revision.exact !== undefined) {
    return pageAt(call, selection, { prefix, limit, at: revision.exact ?? context.store.revision, after: undefined });
  }
  return { entries: current(call, prefix, selection), metadata: { resourceVersion: String(context.store.revision) } };
}

/** Everything that matches now; one object by name is looked up instead of searched for. */
export function current({ context, resource }: Call, prefix: string, selection: Selection): StoredEntry[] {
  const { store } = context;
  if (selection.all) return store.range(prefix);
  if (selection.name !== undefined && prefix !== resource.prefix) {
    const entry = store.get(`${prefix}${selection.name}`);
    return entry !== undefined && selection.matches(entry) ? [entry] : [];
  }
  if (selection.name !== undefined && !resource.namespaced) {
    const entry = store.get(objectKey(resource, undefined, selection.name));
    return entry !== undefined && selection.matches(entry) ? [entry] : [];
  }
  return store.range(prefix).filter((entry) => selection.matches(entry));
}

interface PageQuery {
  readonly prefix: string;
  /** 0: no limit. */
  readonly limit: number;
  readonly at: number;
  readonly after: string | undefined;
}

function pageAt(call: Call, selection: Selection, { prefix, limit, at, after }: PageQuery): ListedPage {
  const { context, resource } = call;
  const entries: StoredEntry[] = [];
  let from = after;
  for (;;) {
    const page = context.store.rangeAt(prefix, at, {
      ...(from !== undefined && { startAfter: from }),
      ...(limit > 0 && { limit: limit - entries.length }),
    });
    if (page === undefined) {
      if (after === undefined) throw expired();
      const resume = encodeContinue({ revision: -1, after: after.slice(resource.prefix.length) });
      throw expired(
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
        resume,
      );
    }
    for (const entry of page.entries) if (selection.matches(entry)) entries.push(entry);
    const last = page.entries.at(-1);
    if (!page.more || last === undefined) return { entries, metadata: { resourceVersion: String(at) } };
    from = last.key;
    if (limit > 0 && entries.length >= limit) {
      return {
        entries,
        metadata: {
          resourceVersion: String(at),
          continue: encodeContinue({ revision: at, after: from.slice(resource.prefix.length) }),
          ...(selection.all && { remainingItemCount: page.remaining }),
        },
      };
    }
  }
}
