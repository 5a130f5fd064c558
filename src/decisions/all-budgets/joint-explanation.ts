import type { Pod } from '../../api/generated/core-v1.ts';
import { type ExplainedBudgets, explainJointStep, formatPodExplanation, type PodExplanation } from './explanation.ts';
import { decideAllTogether, type JointStep } from './together.ts';

/** Whether pods may all go at once, and what stands in the way. */
export interface JointExplanation {
  /** Such as `PodGroup/chat-1` or `Node/node-1`. */
  readonly of: string;
  readonly allowed: boolean;
  readonly pods: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly allowed: boolean;
    readonly reason: string;
    readonly unit?: string | undefined;
  }[];
  /** One for each group or pod that may not go. */
  readonly refusals: readonly PodExplanation[];
}

export function explainTogether(all: ExplainedBudgets, of: string, pods: readonly Pod[]): JointExplanation {
  const names = pods.map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }));
  const { allowed, steps } = decideAllTogether(all, names);
  const refusals = new Map<string, PodExplanation>();
  for (const step of steps) {
    const key = `${step.pod.namespace}/${step.budget}/${step.unit ?? step.pod.name}`;
    if (step.allowed || refusals.has(key)) continue;
    const explanation = explainJointStep(all, step);
    if (explanation !== undefined) refusals.set(key, explanation);
  }
  return {
    of,
    allowed,
    pods: steps.map((step) => ({ ...step.pod, allowed: step.allowed, reason: reasonOf(step), unit: step.unit })),
    refusals: [...refusals.values()],
  };
}

const reasonOf = ({ refusedBy: [guard], verdict }: JointStep): string =>
  verdict.allowed && guard !== undefined ? `${guard.reason} (PodUnavailableBudget ${guard.budget})` : verdict.reason;

/** One sentence per line, for people. */
export function formatTogether({ allowed, of, pods, refusals }: JointExplanation, now: number): string[] {
  const count = `${pods.length} pod${pods.length === 1 ? '' : 's'}`;
  const lines = [allowed ? `The ${count} of ${of} may all go now.` : `The ${count} of ${of} may not all go now.`];
  for (const { allowed: may, name, namespace, reason, unit } of pods) {
    const where = unit === undefined ? '' : `, group ${unit}`;
    lines.push(`  ${may ? 'may go ' : 'may not'} ${namespace}/${name}: ${reason}${where}`);
  }
  for (const refusal of refusals) lines.push('', ...formatPodExplanation(refusal, now));
  return lines;
}
