/** One resource request on its way through the verbs. */
import type { ReadYaml } from './codec-seam.ts';
import type { ApiRequest } from './exchange.ts';
import type { Kernel } from './kernel.ts';
import type { ResourceRow, VersionRow } from './registry/row.ts';
import type { ResourceRequest } from './request/info.ts';
import type { RequestOptions } from './request/options.ts';
import { badRequest } from './status.ts';
import type { UserInfo } from './user.ts';

export interface Call {
  readonly kernel: Kernel;
  readonly row: ResourceRow;
  readonly version: VersionRow;
  readonly info: ResourceRequest;
  readonly options: RequestOptions;
  readonly request: ApiRequest;
  readonly user: UserInfo;
  readonly warnings: string[];
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
