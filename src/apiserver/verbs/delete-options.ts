/** DeleteOptions come in the body or, when it is empty, in the query. */
import {
  FieldPath,
  type Issue,
  invalid as invalidValue,
  isObject,
  notSupported,
} from '../../machinery/values/index.ts';
import type { Codec } from '../context/codec.ts';
import type { ApiRequest } from '../exchange/exchange.ts';
import { badRequest, invalid } from '../exchange/status.ts';
import type { DeletionOptions, PropagationPolicy } from '../stored/deletion.ts';
import { bodyType } from '../request/negotiate.ts';
import { booleanOption, integerOption, type RequestOptions } from '../request/options.ts';

export interface DeleteRequest extends DeletionOptions {
  readonly dryRun: boolean;
  /** As the client sent them, for admission. */
  readonly raw: Readonly<Record<string, unknown>>;
}

const POLICIES: readonly PropagationPolicy[] = ['Background', 'Foreground', 'Orphan'];

export function readDeleteOptions(codec: Codec, request: ApiRequest, options: RequestOptions): DeleteRequest {
  const raw =
    request.body !== undefined && request.body.length > 0 ? fromBody(codec, request) : fromQuery(options.query);
  return checkDeleteOptions(raw, options.dryRun);
}

/** Checks options that came inside another object, such as an Eviction. */
export function checkDeleteOptions(raw: Readonly<Record<string, unknown>>, dryRunAsked: boolean): DeleteRequest {
  const issues: Issue[] = [];
  const policy = raw['propagationPolicy'] as string | null | undefined;
  const orphan = raw['orphanDependents'] as boolean | null | undefined;
  if (policy && orphan !== undefined && orphan !== null) {
    issues.push(
      invalidValue(
        FieldPath.of('propagationPolicy'),
        policy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    );
  }
  if (policy && !POLICIES.includes(policy as PropagationPolicy)) {
    issues.push(notSupported(FieldPath.of('propagationPolicy'), policy, ['Background', 'Foreground', 'Orphan', 'nil']));
  }
  const dryRun = Array.isArray(raw['dryRun']) ? (raw['dryRun'] as unknown[]) : [];
  if (dryRun.some((value) => value !== 'All')) {
    issues.push(notSupported(FieldPath.of('dryRun'), dryRun, ['All']));
  }
  if (issues.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', issues);
  const preconditions = isObject(raw['preconditions']) ? raw['preconditions'] : undefined;
  const grace = raw['gracePeriodSeconds'];
  return {
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    propagationPolicy: policy ? (policy as PropagationPolicy) : undefined,
    orphanDependents: orphan ?? undefined,
    preconditions: preconditions && {
      uid: (preconditions['uid'] as string | null | undefined) ?? undefined,
      resourceVersion: (preconditions['resourceVersion'] as string | null | undefined) ?? undefined,
    },
    dryRun: dryRunAsked || dryRun.length > 0,
    raw,
  };
}

function fromBody(codec: Codec, request: ApiRequest): Record<string, unknown> {
  const { object } = codec.decode({
    bytes: request.body as Uint8Array,
    mediaType: bodyType(request.headers['content-type']),
    expected: { apiVersion: 'v1', kind: 'DeleteOptions' },
  });
  // Looked at before the object, as on the real server.
  if (String(object.apiVersion ?? '').split('/').length > 2) {
    throw badRequest(`unexpected GroupVersion string: ${object.apiVersion}`);
  }
  // Anything else would be taken for options that say nothing, and the object would be gone.
  if (object.kind && object.kind !== 'DeleteOptions') {
    throw badRequest(`the body is of kind ${object.kind}, and a delete takes DeleteOptions`);
  }
  const { metadata: _metadata, ...options } = object;
  return options;
}

function fromQuery(query: URLSearchParams): Record<string, unknown> {
  const grace = integerOption(query, 'gracePeriodSeconds');
  const orphan = booleanOption(query, 'orphanDependents');
  const policy = query.get('propagationPolicy');
  const uid = query.get('preconditions.uid') ?? undefined;
  const dryRun = query.getAll('dryRun');
  return {
    kind: 'DeleteOptions',
    apiVersion: 'meta.k8s.io/v1',
    ...(grace !== undefined && { gracePeriodSeconds: grace }),
    ...(orphan !== undefined && { orphanDependents: orphan }),
    ...(policy && { propagationPolicy: policy }),
    ...(uid && { preconditions: { uid } }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}
