/** What expressions of webhooks and policies see of a request. */
import { toCel } from '../cel/values.ts';
import type { AdmissionAttributes } from '../context/admission-plugin.ts';
import type { ApiObject } from '../exchange/object.ts';
import { userInfoOf } from '../exchange/user.ts';
import { kindIn, shownIn } from './versioned.ts';

/** The request as in an AdmissionReview, without objects. */
export function requestOf(attributes: AdmissionAttributes, version: string) {
  const { subresource, name, namespace, operation, user, dryRun, options, resource } = attributes;
  const asked = kindIn(attributes, attributes.version);
  const own = resource.group === '' && resource.plural === 'namespaces' ? name : namespace;
  return {
    ...kindIn(attributes, version),
    ...(subresource && { subResource: subresource }),
    requestKind: asked.kind,
    requestResource: asked.resource,
    ...(subresource && { requestSubResource: subresource }),
    ...(name && { name }),
    ...(own && { namespace: own }),
    operation,
    userInfo: userInfoOf(user),
    dryRun,
    options,
  };
}

export function variablesFor(
  attributes: AdmissionAttributes,
  version: string,
  namespaceObject: ApiObject | undefined,
): Record<string, unknown> {
  const { object, oldObject } = attributes;
  return {
    object: object === undefined ? null : toCel(shownIn(attributes, object, version)),
    oldObject: oldObject === undefined ? null : toCel(shownIn(attributes, oldObject, version)),
    request: toCel(requestOf(attributes, version)),
    namespaceObject: toCel(namespaceObject ?? null),
    authorizer: null,
    params: null,
    variables: {},
  };
}
