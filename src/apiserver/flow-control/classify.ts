/** Which FlowSchema a request belongs to: the one with the lowest precedence that matches, as Kubernetes has it. */
import type {
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../../api/generated/flowcontrol-v1.ts';
import type { UserInfo } from '../exchange/user.ts';
import type { RequestInfo, ResourceRequest } from '../request/info.ts';

export interface Asked {
  readonly user: UserInfo;
  readonly method: string;
  readonly info: RequestInfo;
}

/** In the order in which they are asked. */
export function inOrder(schemas: Iterable<FlowSchema>): FlowSchema[] {
  const precedence = ({ spec }: FlowSchema): number => spec?.matchingPrecedence ?? 0;
  const name = ({ metadata }: FlowSchema): string => metadata.name ?? '';
  return [...schemas].sort((a, b) => precedence(a) - precedence(b) || (name(a) < name(b) ? -1 : 1));
}

export function matchesSchema({ spec }: FlowSchema, asked: Asked): boolean {
  for (const rule of spec?.rules ?? []) if (matchesRule(rule, asked)) return true;
  return false;
}

/** What tells the flows of a schema apart. */
export function distinguish({ spec }: FlowSchema, { info, user }: Asked): string {
  const method = spec?.distinguisherMethod?.type;
  if (method === 'ByUser') return user.username;
  return method === 'ByNamespace' && info.kind === 'resource' ? (info.namespace ?? '') : '';
}

// Plain loops: this is asked of every request, of about ten schemas.
function matchesRule(rule: PolicyRulesWithSubjects, { info, method, user }: Asked): boolean {
  if (!matchesAny(rule.subjects, user)) return false;
  if (info.kind === 'plain') {
    const verb = method.toLowerCase();
    for (const one of rule.nonResourceRules ?? []) if (matchesPath(one, verb, info.path)) return true;
    return false;
  }
  for (const one of rule.resourceRules ?? []) if (matchesResource(one, method, info)) return true;
  return false;
}

function matchesAny(subjects: readonly Subject[], user: UserInfo): boolean {
  for (const subject of subjects) if (matchesSubject(subject, user)) return true;
  return false;
}

const ACCOUNT = 'system:serviceaccount:';

function matchesSubject({ group, serviceAccount, user: named }: Subject, user: UserInfo): boolean {
  if (group !== undefined) return group.name === '*' || user.groups.includes(group.name);
  if (named !== undefined) return named.name === '*' || named.name === user.username;
  if (serviceAccount === undefined || !user.username.startsWith(ACCOUNT)) return false;
  const { name, namespace } = serviceAccount;
  return name === '*'
    ? user.username.startsWith(`${ACCOUNT}${namespace}:`)
    : user.username === `${ACCOUNT}${namespace}:${name}`;
}

function matchesResource(rule: ResourcePolicyRule, method: string, info: ResourceRequest): boolean {
  const { group, namespace, plural, subresource, verb } = info;
  if (!has(rule.verbs, verb ?? method.toLowerCase()) || !has(rule.apiGroups, group)) return false;
  if (!has(rule.resources, subresource === undefined ? plural : `${plural}/${subresource}`)) return false;
  return namespace ? has(rule.namespaces ?? [], namespace) : rule.clusterScope === true;
}

function matchesPath({ nonResourceURLs, verbs }: NonResourcePolicyRule, verb: string, path: string): boolean {
  if (!has(verbs, verb)) return false;
  return nonResourceURLs.some((url) => {
    if (url === '*' || url === path) return true;
    const folder = url.endsWith('*') ? url.slice(0, -1) : url;
    return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
  });
}

const has = (list: readonly string[], one: string): boolean => list[0] === '*' || list.includes(one);
