import type { PodAffinityTerm, PodSpec, TopologySpreadConstraint } from '../../../api/generated/core-v1.ts';
import {
  fromLabelSelector,
  type Labels,
  type LabelSelectorShape,
  matches,
  type Requirement,
  type Selector,
} from '../../../machinery/values/index.ts';

/** A rule about other pods in the same topology domain. */
export interface PodTerm {
  readonly topologyKey: string;
  readonly selector: Selector;
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: Selector;
}

export interface WeightedPodTerm extends PodTerm {
  readonly weight: number;
}

export interface PodAffinityTerms {
  readonly affinity: readonly PodTerm[];
  readonly antiAffinity: readonly PodTerm[];
  readonly preferred: readonly WeightedPodTerm[];
}

/** `matchLabelKeys` narrow a selector to pods with the same value of a label; the other list to those without it. */
function narrowed(
  shape: LabelSelectorShape | undefined,
  labels: Labels,
  { same = [], other = [] }: { same?: readonly string[] | undefined; other?: readonly string[] | undefined },
): Selector {
  const selector = fromLabelSelector(shape);
  if (selector.matchesNothing || (same.length === 0 && other.length === 0)) return selector;
  const added: Requirement[] = [];
  const add = (operator: 'In' | 'NotIn') => (key: string) => {
    const value = labels[key];
    if (value !== undefined) added.push({ key, operator, values: [value] });
  };
  same.forEach(add('In'));
  other.forEach(add('NotIn'));
  return { requirements: [...selector.requirements, ...added] };
}

function compileTerm(term: PodAffinityTerm, namespace: string, labels: Labels): PodTerm {
  const { matchLabelKeys, mismatchLabelKeys, namespaces = [], namespaceSelector } = term;
  const own = namespaces.length === 0 && namespaceSelector === undefined;
  return {
    topologyKey: term.topologyKey,
    selector: narrowed(term.labelSelector, labels, { same: matchLabelKeys, other: mismatchLabelKeys }),
    namespaces: new Set(own ? [namespace] : namespaces),
    namespaceSelector: fromLabelSelector(namespaceSelector),
  };
}

const NONE: PodAffinityTerms = { affinity: [], antiAffinity: [], preferred: [] };

export function compilePodAffinity(spec: PodSpec | undefined, namespace: string, labels: Labels): PodAffinityTerms {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  if (podAffinity === undefined && podAntiAffinity === undefined) return NONE;
  const compile = (term: PodAffinityTerm): PodTerm => compileTerm(term, namespace, labels);
  const weighted =
    (sign: 1 | -1) =>
    ({ podAffinityTerm, weight }: { podAffinityTerm: PodAffinityTerm; weight: number }): WeightedPodTerm => ({
      ...compile(podAffinityTerm),
      weight: sign * weight,
    });
  return {
    affinity: (podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(compile),
    antiAffinity: (podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(compile),
    preferred: [
      ...(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(weighted(1)),
      ...(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(weighted(-1)),
    ],
  };
}

export interface TermSubject {
  readonly namespace: string;
  readonly labels: Labels;
}

export function matchesPodTerm(term: PodTerm, subject: TermSubject, namespaceLabels: Labels | undefined): boolean {
  const inScope = term.namespaces.has(subject.namespace) || matches(term.namespaceSelector, namespaceLabels ?? {});
  return inScope && matches(term.selector, subject.labels);
}

export interface SpreadRule {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: Selector;
  /** Count only nodes the pod's own node selection admits. */
  readonly honorNodeChoice: boolean;
  readonly honorTaints: boolean;
}

export interface SpreadRules {
  readonly hard: readonly SpreadRule[];
  readonly soft: readonly SpreadRule[];
}

const NO_RULES: SpreadRules = { hard: [], soft: [] };

export function compileSpread(constraints: readonly TopologySpreadConstraint[] = [], labels: Labels): SpreadRules {
  if (constraints.length === 0) return NO_RULES;
  const compile = (constraint: TopologySpreadConstraint): SpreadRule => ({
    topologyKey: constraint.topologyKey,
    maxSkew: constraint.maxSkew,
    minDomains: constraint.minDomains ?? 1,
    selector: narrowed(constraint.labelSelector, labels, { same: constraint.matchLabelKeys }),
    honorNodeChoice: constraint.nodeAffinityPolicy !== 'Ignore',
    honorTaints: constraint.nodeTaintsPolicy === 'Honor',
  });
  const hard = constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable !== 'ScheduleAnyway');
  const soft = constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway');
  return { hard: hard.map(compile), soft: soft.map(compile) };
}
