import type { NodeSelectorTerm, PodSpec, PreferredSchedulingTerm } from '../../../api/generated/core-v1.ts';
import {
  type Labels,
  matches,
  type SelectorOperator,
  type Requirement,
  type Selector,
} from '../../../machinery/values/index.ts';

/** One alternative of a node selector: all labels and all fields must match. */
export interface NodeTerm {
  readonly labels: Selector;
  readonly fields: readonly Requirement[];
}

export interface WeightedNodeTerm extends NodeTerm {
  readonly weight: number;
}

const OPERATORS: Readonly<Record<string, SelectorOperator>> = {
  In: 'In',
  NotIn: 'NotIn',
  Exists: 'Exists',
  DoesNotExist: 'DoesNotExist',
  Gt: 'GreaterThan',
  Lt: 'LessThan',
};

function compileTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): NodeTerm {
  const requirement = ({ key, operator, values = [] }: (typeof matchExpressions)[number]): Requirement => ({
    key,
    operator: OPERATORS[operator] ?? 'In',
    values,
  });
  // An empty term matches no node, unlike an empty label selector; so does one that makes no sense.
  const empty = matchExpressions.length === 0 && matchFields.length === 0;
  const useless = empty || !matchExpressions.every(isSound) || !matchFields.every(isSoundField);
  return {
    labels: { requirements: matchExpressions.map(requirement), ...(useless && { matchesNothing: true as const }) },
    fields: matchFields.map(requirement),
  };
}

type Expression = NonNullable<NodeSelectorTerm['matchExpressions']>[number];

function isSound({ operator, values = [] }: Expression): boolean {
  if (operator === 'Exists' || operator === 'DoesNotExist') return values.length === 0;
  if (operator === 'Gt' || operator === 'Lt') return values.length === 1 && /^[+-]?\d+$/.test(values[0] ?? '');
  return (operator === 'In' || operator === 'NotIn') && values.length > 0;
}

const isSoundField = ({ key, operator, values = [] }: Expression): boolean =>
  key === 'metadata.name' && (operator === 'In' || operator === 'NotIn') && values.length === 1;

function matchesTerm({ labels, fields }: NodeTerm, nodeLabels: Labels, nodeName: string): boolean {
  if (!matches(labels, nodeLabels)) return false;
  return fields.length === 0 || matches({ requirements: fields }, { 'metadata.name': nodeName });
}

export const compileNodeTerms = (terms: readonly NodeSelectorTerm[]): NodeTerm[] => terms.map(compileTerm);

export const matchesNodeTerms = (terms: readonly NodeTerm[], labels: Labels, nodeName: string): boolean =>
  terms.some((term) => matchesTerm(term, labels, nodeName));

/** What a pod asks of its node by label: `nodeSelector` and required node affinity must both hold. */
export interface NodeChoice {
  readonly selector: Labels | undefined;
  readonly terms: readonly NodeTerm[] | undefined;
}

export function compileNodeChoice(spec: PodSpec | undefined): NodeChoice | undefined {
  const selector = spec?.nodeSelector;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if ((selector === undefined || Object.keys(selector).length === 0) && required === undefined) return undefined;
  return { selector, terms: required?.nodeSelectorTerms.map(compileTerm) };
}

export function matchesNodeChoice(choice: NodeChoice | undefined, labels: Labels, nodeName: string): boolean {
  if (choice === undefined) return true;
  for (const key in choice.selector) if (labels[key] !== choice.selector[key]) return false;
  return choice.terms === undefined || choice.terms.some((term) => matchesTerm(term, labels, nodeName));
}

/** The only nodes the choice can mean, when every alternative names its node; undefined when it could be any. */
export function namedNodes(choice: NodeChoice | undefined): readonly string[] | undefined {
  if (choice?.terms === undefined) return undefined;
  const names: string[] = [];
  for (const { fields } of choice.terms) {
    const named = fields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    if (named === undefined) return undefined;
    names.push(...named.values);
  }
  return names;
}

export function compilePreferredNodes(terms: readonly PreferredSchedulingTerm[] = []): WeightedNodeTerm[] {
  return terms.map(({ preference, weight }) => {
    const term = compileTerm(preference);
    // A preference with no rules is for every node.
    return { ...term, labels: { requirements: term.labels.requirements }, weight };
  });
}

/** The sum of the weights of the preferences a node meets. */
export function sumPreferences(terms: readonly WeightedNodeTerm[], labels: Labels, nodeName: string): number {
  let sum = 0;
  for (const term of terms) if (matchesTerm(term, labels, nodeName)) sum += term.weight;
  return sum;
}
