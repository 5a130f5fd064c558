/** Whether the server has the route that a request asks for. Checked before anything of the request is looked at. */
import { checkPathSegment } from '../../machinery/values/index.ts';
import type { ResourceRow, Verb } from '../registry/row.ts';
import type { SubresourceVerb } from '../registry/subresource.ts';

import { badRequest, methodNotAllowed, noSuchResource } from '../status.ts';
import type { ResourceRequest } from './info.ts';

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
export function checkRoute(row: ResourceRow, info: ResourceRequest): void {
  const { name, namespace, rest, subresource, verb } = info;
  if (namespace !== undefined && !row.namespaced) throw noSuchResource();
  if (namespace === undefined && row.namespaced) {
    if (name !== undefined || !hasAny(row, ACROSS_NAMESPACES)) throw noSuchResource();
    if (verb !== 'list' && verb !== 'watch') throw row.custom ? noSuchResource() : methodNotAllowed();
  }
  if (subresource !== undefined) {
    const found = row.subresources.get(subresource);
    if (found === undefined || verb === 'watch' || (rest.length > 0 && found.takesPath !== true)) {
      throw noSuchResource();
    }
    if (!found.verbs.includes(verb as SubresourceVerb)) throw methodNotAllowed(verb && row, verb);
  } else {
    if (name !== undefined && !hasAny(row, ITEM_VERBS)) throw noSuchResource();
    if (verb === 'watch' && !row.verbs.includes(verb)) throw noSuchResource();
    if (verb === undefined || (verb === 'create' && name !== undefined)) throw methodNotAllowed();
    if (!row.verbs.includes(verb)) throw methodNotAllowed(row, verb);
  }
  checkNames(info);
}

function checkNames({ name, namespace, verb }: ResourceRequest): void {
  const [problem] = name === undefined ? [] : checkPathSegment(name);
  if (problem !== undefined) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problem}`);
  const acrossAll = name === undefined && (verb === 'list' || verb === 'watch');
  if (namespace === '' && !acrossAll) throw badRequest('Namespace parameter required.');
}

const hasAny = (row: ResourceRow, verbs: readonly Verb[]): boolean => verbs.some((verb) => row.verbs.includes(verb));
