/** The 403 of a request that authorization refused. */
import type { AuthorizationAttributes } from './access.ts';
import { type ApiError, failure, forbidden } from '../exchange/status.ts';

export function forbiddenAccess(attributes: AuthorizationAttributes, reason: string | undefined): ApiError {
  const tail = reason ? `: ${reason}` : '';
  const { resource, path = '' } = attributes;
  const who = `User ${JSON.stringify(attributes.user.username)} cannot ${attributes.verb}`;
  if (resource === undefined) {
    return failure(403, 'Forbidden', `forbidden: ${who} path "${path}"${tail}`, { details: {} });
  }
  const what = resource.subresource ? `${resource.plural}/${resource.subresource}` : resource.plural;
  const where = resource.namespace ? `in the namespace "${resource.namespace}"` : 'at the cluster scope';
  return forbidden(
    { group: resource.group, plural: resource.plural, kind: '' },
    resource.name,
    `${who} resource "${what}" in API group "${resource.group}" ${where}${tail}`,
  );
}
