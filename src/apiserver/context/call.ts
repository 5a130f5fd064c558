/** One resource request on its way through the verbs. */
import type { RequestTiming } from '../measure/request-meter.ts';
import type { ReadYaml } from './codec.ts';
import type { ApiRequest } from '../exchange/exchange.ts';
import type { ServerContext } from './server-context.ts';
import type { Resource, ServedVersion } from '../registry/resource.ts';
import type { ResourceRequest } from '../request/info.ts';
import type { RequestOptions } from '../request/options.ts';
import { badRequest } from '../exchange/status.ts';
import type { UserInfo } from '../exchange/user.ts';

export interface Call {
  readonly context: ServerContext;
  readonly resource: Resource;
  readonly version: ServedVersion;
  readonly info: ResourceRequest;
  readonly options: RequestOptions;
  readonly request: ApiRequest;
  readonly user: UserInfo;
  readonly warnings: string[];
  readonly timing: RequestTiming;
  /** The body, when it is YAML and was read before the call began. */
  readonly yaml?: ReadYaml;
}

/** The name in the path; only call for verbs on an object. */
export function nameOf(call: Call): string {
  if (call.info.name === undefined) throw badRequest('a name is required in the path');
  return call.info.name;
}

/** Who the change is attributed to in managedFields. */
export function fieldManagerOf(call: Call): string {
  const agent = call.request.headers['user-agent'] ?? '';
  const slash = agent.indexOf('/');
  return call.options.fieldManager ?? ((slash < 0 ? agent : agent.slice(0, slash)) || 'unknown');
}
