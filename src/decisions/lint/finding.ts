import type { KubeObject } from '../../api/resource.ts';
import type { LintFacts } from './facts.ts';

/** From least to most severe. */
export const SEVERITIES = ['info', 'warning', 'error'] as const;
export type Severity = (typeof SEVERITIES)[number];

export function isAtLeast(severity: Severity, threshold: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(threshold);
}

/** What a rule sees in one object. Severity and fix are the rule's own unless this case has better ones. */
export interface Problem {
  readonly object: KubeObject;
  /** As Kubernetes prints it: `spec.minAvailable`, `metadata.annotations[a/b]`; empty for the object as a whole. */
  readonly path: string;
  readonly message: string;
  readonly severity?: Severity;
  readonly fix?: string;
}

export interface Finding extends Problem {
  readonly rule: string;
  readonly severity: Severity;
  readonly why: string;
  readonly fix: string;
}

/** One row of the catalogue. The texts are what a person reads, in the terminal and in the reference. */
export interface LintRule {
  readonly name: string;
  readonly severity: Severity;
  readonly what: string;
  readonly why: string;
  readonly fix: string;
  /** The rule explained to someone who meets it for the first time. */
  readonly details: string;
  check(facts: LintFacts): Iterable<Problem>;
}
