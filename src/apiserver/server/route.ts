/** Whether the server has the route that a request asks for. Checked before anything of the request is looked at. */
import { checkPathSegment } from '../../machinery/values/index.ts';
import type { Resource, Verb } from '../registry/resource.ts';
import type { SubresourceVerb } from '../registry/subresource.ts';

import { badRequest, methodNotAllowed, noSuchResource } from '../exchange/status.ts';
import type { ResourceRequest } from '../request/info.ts';

const ITEM_VERBS: readonly Verb[] = ['get', 'update', 'patch', 'delete'];
const ACROSS_NAMESPACES: readonly Verb[] = ['list', 'watch'];

/**
 * Throws unless the route exists. Rules, in order:
 *  1. a kind of the cluster has no route through a namespace, nor its subresources: authorization looked at the rights
 *     in that namespace, which say nothing about the cluster (404)
 *  2. a namespaced kind is reached without one only to list or watch all of it (404, or 405 on the collection)
 *  3. the subresource exists, and nothing follows it in the path that it does not take (404)
 *  4. the kind has such paths at all: a review has no objects (404)
 *  5. the method means something there (405)
 *  6. the name can be one of an object, and a write names its namespace (400)
 */
export function checkRoute(resource: Resource, info: ResourceRequest): void {
  const { name, namespace, rest, subresource, verb } = info;
  if (namespace !== undefined && !resource.namespaced) throw noSuchResource();
  if (namespace === undefined && resource.namespaced) {
    if (name !== undefined || !hasAny(resource, ACROSS_NAMESPACES)) throw noSuchResource();
    if (verb !== 'list' && verb !== 'watch') throw resource.custom ? noSuchResource() : methodNotAllowed();
  }
  if (subresource !== undefined) {
    const found = resource.subresources.get(subresource);
    if (found === undefined || verb === 'watch' || (rest.length > 0 && found.takesPath !== true)) {
      throw noSuchResource();
    }
    if (!found.verbs.includes(verb as SubresourceVerb)) throw methodNotAllowed(verb && resource, verb);
  } else {
    if (name !== undefined && !hasAny(resource, ITEM_VERBS)) throw noSuchResource();
    if (verb === 'watch' && !resource.verbs.includes(verb)) throw noSuchResource();
    if (verb === undefined || (verb === 'create' && name !== undefined)) throw methodNotAllowed();
    if (!resource.verbs.includes(verb)) throw methodNotAllowed(resource, verb);
  }
  checkNames(info);
}

function checkNames({ name, namespace, verb }: ResourceRequest): void {
  // A watch below the old /watch/ looks for the name as a field: one that nothing can have is never seen, and no fault.
  const [problem] = name === undefined || verb === 'watch' ? [] : checkPathSegment(name);
  if (problem !== undefined) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problem}`);
  const acrossAll = name === undefined && (verb === 'list' || verb === 'watch');
  if (namespace === '' && !acrossAll) throw badRequest('Namespace parameter required.');
}

const hasAny = (resource: Resource, verbs: readonly Verb[]): boolean =>
  verbs.some((verb) => resource.verbs.includes(verb));
