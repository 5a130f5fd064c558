/** Which requests a webhook or policy wants to see. */
import type { MatchResources, RuleWithOperations } from '../../api/generated/admissionregistration-v1.ts';
import { fromLabelSelector, type LabelSelectorShape, matches } from '../../machinery/values/index.ts';
import type { AdmissionAttributes } from '../context/admission-plugin.ts';
import type { ApiObject } from '../exchange/object.ts';
import { readStored, type StoredReads } from '../stored/kind-view.ts';

export interface MatchSpec {
  readonly rules: readonly (RuleWithOperations & { readonly resourceNames?: readonly string[] | undefined })[];
  readonly excludeRules?: MatchSpec['rules'];
  readonly matchPolicy?: string | undefined;
  readonly namespaceSelector?: LabelSelectorShape | undefined;
  readonly objectSelector?: LabelSelectorShape | undefined;
}

/** The configuration of admission is never subject to it, or a bad webhook could not be removed. */
export const isExempt = ({ resource }: AdmissionAttributes): boolean =>
  resource.group === 'admissionregistration.k8s.io';

/**
 * The version of the resource in which the request matches: its own when a rule names it, another version of the same
 * resource when the policy is Equivalent. Undefined: no match.
 */
export function matchVersion(reads: StoredReads, spec: MatchSpec, attributes: AdmissionAttributes): string | undefined {
  if (spec.excludeRules?.some((rule) => ruleMatches(rule, attributes, attributes.version))) return undefined;
  const version = ruleVersion(spec, attributes);
  if (version === undefined) return undefined;
  if (!namespaceSelected(reads, spec.namespaceSelector, attributes)) return undefined;
  return objectSelected(spec.objectSelector, attributes) ? version : undefined;
}

function ruleVersion({ rules, matchPolicy }: MatchSpec, attributes: AdmissionAttributes): string | undefined {
  if (rules.some((rule) => ruleMatches(rule, attributes, attributes.version))) return attributes.version;
  if (matchPolicy === 'Exact') return undefined;
  const others = attributes.resource.versions.map(({ name }) => name).filter((name) => name !== attributes.version);
  return others.find((version) => rules.some((rule) => ruleMatches(rule, attributes, version)));
}

const has = (items: readonly string[] | undefined, asked: string): boolean =>
  items !== undefined && (items.includes('*') || items.includes(asked));

function ruleMatches(rule: MatchSpec['rules'][number], attributes: AdmissionAttributes, version: string): boolean {
  const { resource, operation, subresource = '', name = '' } = attributes;
  return (
    has(rule.operations, operation) &&
    has(rule.apiGroups, resource.group) &&
    has(rule.apiVersions, version) &&
    scopeMatches(rule.scope, attributes) &&
    (rule.resources ?? []).some((item) => {
      const [plural, part = ''] = item.split('/', 2) as [string, string?];
      return (plural === '*' || plural === resource.plural) && (part === '*' || part === subresource);
    }) &&
    ((rule.resourceNames ?? []).length === 0 || (rule.resourceNames ?? []).includes(name))
  );
}

const isNamespace = ({ resource }: AdmissionAttributes): boolean =>
  resource.group === '' && resource.plural === 'namespaces';

function scopeMatches(scope: string | undefined, attributes: AdmissionAttributes): boolean {
  const namespaced = !isNamespace(attributes) && attributes.namespace !== undefined;
  return scope === undefined || scope === '*' || (scope === 'Namespaced') === namespaced;
}

const isEmpty = (selector: LabelSelectorShape | undefined): boolean =>
  selector === undefined ||
  selector === null ||
  (Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0);

/** Selects by the labels of the namespace; of a Namespace object, its own; other cluster objects always match. */
function namespaceSelected(
  reads: StoredReads,
  selector: LabelSelectorShape | undefined,
  attributes: AdmissionAttributes,
): boolean {
  if (isEmpty(selector)) return true;
  const labels = isNamespace(attributes)
    ? (attributes.object ?? attributes.oldObject)?.metadata.labels
    : attributes.namespace === undefined
      ? undefined
      : namespaceOf(reads, attributes)?.metadata.labels;
  if (!isNamespace(attributes) && attributes.namespace === undefined) return true;
  return matches(fromLabelSelector(selector), labels);
}

export function namespaceOf(reads: StoredReads, { namespace }: AdmissionAttributes): ApiObject | undefined {
  return namespace === undefined
    ? undefined
    : readStored(reads, { group: '', plural: 'namespaces' }, undefined, namespace);
}

/** Selected when the new or the old state has the labels. */
function objectSelected(selector: LabelSelectorShape | undefined, { object, oldObject }: AdmissionAttributes): boolean {
  if (isEmpty(selector)) return true;
  const wanted = fromLabelSelector(selector);
  return [object, oldObject].some((state) => state !== undefined && matches(wanted, state.metadata?.labels));
}

export function matchSpecOf(resources: MatchResources | undefined): MatchSpec {
  return {
    rules: resources?.resourceRules ?? [],
    excludeRules: resources?.excludeResourceRules ?? [],
    matchPolicy: resources?.matchPolicy,
    namespaceSelector: resources?.namespaceSelector as LabelSelectorShape | undefined,
    objectSelector: resources?.objectSelector as LabelSelectorShape | undefined,
  };
}
