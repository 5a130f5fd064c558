/** `serviceaccounts/token`: issues a token for a service account, if asked bound to an object. */
import type { BoundObjectReference, TokenRequestSpec } from '../../api/generated/authentication-v1.ts';
import type { Clock } from '../../machinery/runtime/index.ts';
import { FieldPath, formatTime, type Issue, invalid as invalidValue, isObject } from '../../machinery/values/index.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { Subresource, SubresourceCall } from '../registry/subresource.ts';
import { badRequest, conflict, invalid, notFound } from '../exchange/status.ts';
import { readStored, type StoredReads } from '../stored/kind-view.ts';
import type { BoundObject, ServiceAccountTokens, TokenSubject } from './tokens.ts';

const GROUP = 'authentication.k8s.io';
const KIND = { group: GROUP, version: 'v1', kind: 'TokenRequest' } as const;
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

export interface TokenRequestOptions {
  readonly tokens: ServiceAccountTokens;
  readonly reads: StoredReads;
  readonly clock: Clock;
}

export function tokenSubresource(options: TokenRequestOptions): Subresource {
  return {
    verbs: ['create'],
    kind: KIND,
    async handle(call) {
      const namespace = call.namespace ?? '';
      const request = call.body();
      const account = readStored(options.reads, { group: '', plural: 'serviceaccounts' }, namespace, call.name);
      if (account === undefined) {
        throw notFound({ group: '', plural: 'serviceaccounts', kind: 'ServiceAccount' }, call.name);
      }
      const spec = fillIn(options, call, request, account);
      const admitted = await call.admit(request);
      const subject: TokenSubject = {
        namespace,
        serviceAccount: identity(account),
        ...bind(options.reads, namespace, call.name, spec.boundObjectRef ?? undefined),
      };
      const seconds = spec.expirationSeconds ?? DEFAULT_SECONDS;
      const now = options.clock.now();
      const token = options.tokens.issue(subject, spec.audiences ?? [], seconds);
      return call.answer(201, {
        ...admitted.object,
        kind: KIND.kind,
        apiVersion: `${GROUP}/v1`,
        status: { token, expirationTimestamp: formatTime(now + seconds * 1000) },
      });
    },
  };
}

const identity = ({ metadata }: ApiObject): BoundObject => ({ name: metadata.name ?? '', uid: metadata.uid ?? '' });

/** Checks the request and completes it in place; returns its spec. */
function fillIn(
  { tokens, clock }: TokenRequestOptions,
  call: SubresourceCall,
  request: ApiObject,
  account: ApiObject,
): TokenRequestSpec {
  const { metadata } = request;
  const issues: Issue[] = [];
  const path = FieldPath.of('metadata');
  if (metadata.name && metadata.name !== call.name) {
    const why = 'must match the service account name if specified';
    issues.push(invalidValue(path.child('name'), metadata.name, why));
  }
  if (metadata.namespace && metadata.namespace !== call.namespace) {
    const why = 'must match the service account namespace if specified';
    issues.push(invalidValue(path.child('namespace'), metadata.namespace, why));
  }
  const spec: TokenRequestSpec = isObject(request['spec']) ? request['spec'] : {};
  const seconds = (spec.expirationSeconds ??= DEFAULT_SECONDS);
  const field = FieldPath.of('spec', 'expirationSeconds');
  if (seconds < MIN_SECONDS) {
    issues.push(invalidValue(field, seconds, 'may not specify a duration less than 10 minutes'));
  }
  if (seconds > MAX_SECONDS) {
    issues.push(invalidValue(field, seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  if (issues.length > 0) throw invalid(KIND, call.name, issues);
  if (metadata.uid && metadata.uid !== account.metadata.uid) {
    const why = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${account.metadata.uid})`;
    throw conflict({ group: GROUP, plural: KIND.kind, kind: KIND.kind }, call.name, why);
  }
  if ((spec.audiences ?? []).length === 0) spec.audiences = [tokens.issuer];
  request.metadata = {
    ...metadata,
    name: call.name,
    namespace: call.namespace ?? '',
    uid: account.metadata.uid ?? '',
    creationTimestamp: formatTime(clock.now()),
  };
  request['spec'] = spec;
  delete request['status'];
  return spec;
}

const BINDABLE: Readonly<Record<string, { readonly plural: string; readonly namespaced: boolean }>> = {
  Pod: { plural: 'pods', namespaced: true },
  Secret: { plural: 'secrets', namespaced: true },
  Node: { plural: 'nodes', namespaced: false },
};

function bind(
  reads: StoredReads,
  namespace: string,
  account: string,
  reference: BoundObjectReference | undefined,
): Pick<TokenSubject, 'pod' | 'secret' | 'node'> {
  if (reference === undefined) return {};
  const { kind = '', apiVersion = 'v1', name = '', uid } = reference;
  const type = apiVersion === 'v1' ? BINDABLE[kind] : undefined;
  if (type === undefined) throw badRequest(`cannot bind token to object of type ${apiVersion}, Kind=${kind}`);
  const home = type.namespaced ? namespace : undefined;
  const object = readStored(reads, { group: '', plural: type.plural }, home, name);
  if (object === undefined) throw notFound({ group: '', plural: type.plural, kind }, name);
  const spec = (isObject(object['spec']) ? object['spec'] : {}) as { serviceAccountName?: string; nodeName?: string };
  if (kind === 'Pod' && (spec.serviceAccountName ?? '') !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    );
  }
  if (uid && uid !== object.metadata.uid) {
    throw conflict(
      { group: '', plural: kind, kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  const bound = identity(object);
  if (kind === 'Secret') return { secret: bound };
  if (kind === 'Node') return { node: bound };
  if (!spec.nodeName) return { pod: bound };
  const node = readStored(reads, { group: '', plural: 'nodes' }, undefined, spec.nodeName);
  return { pod: bound, ...(node && { node: identity(node) }) };
}
