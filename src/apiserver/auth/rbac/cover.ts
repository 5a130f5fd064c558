/** Whether one set of rules grants no more than another: nobody may hand out rights they do not have. */
import type { PolicyRule } from '../../../api/generated/rbac-v1.ts';
import { resourceMatches, urlMatches } from './match.ts';

/** The parts of `wanted` that `held` does not cover, each with one verb and one resource or URL. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap((rule) => [...split(rule)]).filter((part) => !held.some((rule) => coversPart(rule, part)));
}

function* split(rule: PolicyRule): Generator<PolicyRule> {
  for (const verb of rule.verbs) {
    for (const url of rule.nonResourceURLs ?? []) yield { verbs: [verb], nonResourceURLs: [url] };
    for (const group of rule.apiGroups ?? []) {
      for (const resource of rule.resources ?? []) {
        const part = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if ((rule.resourceNames ?? []).length === 0) yield part;
        else for (const name of rule.resourceNames ?? []) yield { ...part, resourceNames: [name] };
      }
    }
  }
}

const has = (list: readonly string[] | undefined, value: string | undefined): boolean =>
  list !== undefined && value !== undefined && (list.includes('*') || list.includes(value));

function coversPart(rule: PolicyRule, part: PolicyRule): boolean {
  if (!has(rule.verbs, part.verbs[0])) return false;
  const url = part.nonResourceURLs?.[0];
  if (url !== undefined) return urlMatches(rule.nonResourceURLs, url);
  const [plural = '', subresource] = (part.resources?.[0] ?? '').split('/', 2);
  if (!has(rule.apiGroups, part.apiGroups?.[0]) || !resourceMatches(rule.resources, plural, subresource)) return false;
  if ((rule.resourceNames ?? []).length === 0) return true;
  const name = part.resourceNames?.[0];
  return name !== undefined && (rule.resourceNames ?? []).includes(name);
}

const list = (values: readonly string[]): string => `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;

/** `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}`. */
export function formatRule({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }: PolicyRule): string {
  const parts: string[] = [];
  if (apiGroups?.length) parts.push(`APIGroups:${list(apiGroups)}`);
  if (resources?.length) parts.push(`Resources:${list(resources)}`);
  if (resourceNames?.length) parts.push(`ResourceNames:${list(resourceNames)}`);
  if (nonResourceURLs?.length) parts.push(`NonResourceURLs:${list(nonResourceURLs)}`);
  parts.push(`Verbs:${list(verbs)}`);
  return `{${parts.join(', ')}}`;
}

/** Joins parts that differ in their verb only. */
export function compact(parts: readonly PolicyRule[]): PolicyRule[] {
  const byRest = new Map<string, PolicyRule>();
  for (const part of parts) {
    const key = JSON.stringify({ ...part, verbs: undefined });
    const found = byRest.get(key);
    if (found === undefined) byRest.set(key, { ...part, verbs: [...part.verbs] });
    else found.verbs = [...new Set([...found.verbs, ...part.verbs])];
  }
  return [...byRest.values()];
}
