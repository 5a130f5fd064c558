import { FieldPath, invalid as invalidValue, isObject } from '../../machinery/values/index.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { SubresourceCall } from '../registry/subresource.ts';
import { checkDeleteOptions, type DeleteRequest } from '../verbs/delete-options.ts';
import { badRequest, failure, invalid } from '../exchange/status.ts';

const EVICTION = { group: 'policy', kind: 'Eviction' };
const VERSIONS = new Set(['policy/v1', 'policy/v1beta1']);

export interface EvictionRequest {
  readonly eviction: ApiObject;
  readonly options: DeleteRequest;
}

/**
 * Reads an Eviction, whose two versions have the same fields; kind and apiVersion may be left out. Checks in order:
 * what it is, its namespace, its name, the one option that is refused, and that both places for dry run agree.
 */
export function readEviction(call: SubresourceCall): EvictionRequest {
  const eviction = call.body();
  const { apiVersion, kind, metadata } = eviction;
  if (apiVersion && !VERSIONS.has(apiVersion)) {
    throw badRequest(
      apiVersion.startsWith('policy/')
        ? `no kind "Eviction" is registered for version "${apiVersion}" in scheme`
        : `the API version in the data (${apiVersion}) does not match the expected API version (policy/v1)`,
    );
  }
  if (kind && kind !== 'Eviction') {
    throw badRequest(`the object provided is unrecognized (must be of type Eviction): kind is ${kind}`);
  }
  if (metadata.namespace && metadata.namespace !== call.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (metadata.name !== call.name) throw badRequest('name in URL does not match name in Eviction object');
  const given = isObject(eviction['deleteOptions']) ? eviction['deleteOptions'] : {};
  if (given['ignoreStoreReadErrorWithClusterBreakingPotential'] === true) {
    const path = FieldPath.of('deleteOptions', 'ignoreStoreReadErrorWithClusterBreakingPotential');
    throw invalid(EVICTION, call.name, [
      invalidValue(path, true, 'can not be set for pod eviction, try after removing the option'),
    ]);
  }
  const inQuery = call.options.query.getAll('dryRun').filter((value) => value !== '');
  const inBody = Array.isArray(given['dryRun']) ? (given['dryRun'] as unknown[]) : [];
  if (inBody.length > 0 && inQuery.length > 0 && inBody.join() !== inQuery.join()) {
    const lists = `[${inQuery.join(' ')}] and [${inBody.join(' ')}]`;
    throw failure(500, '', `Non-matching dry-run options in request and content: ${lists}`);
  }
  return { eviction, options: withoutEmpty(checkDeleteOptions(given, call.options.dryRun)) };
}

/** An empty precondition is none. */
function withoutEmpty(options: DeleteRequest): DeleteRequest {
  const { preconditions } = options;
  return {
    ...options,
    preconditions: preconditions && {
      uid: preconditions.uid || undefined,
      resourceVersion: preconditions.resourceVersion || undefined,
    },
  };
}
