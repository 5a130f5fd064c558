import type { LintedBudget } from '../bound.ts';
import type { Problem, LintRule } from '../finding.ts';
import { shortNameOf } from '../pod-set.ts';
import type { LintFacts } from '../facts.ts';

export const overlappingBudgets: LintRule = {
  name: 'overlapping-budgets',
  severity: 'error',
  what: 'Two budgets of one kind that select the same pods',
  why: 'Kubernetes answers the eviction of a pod under two PodDisruptionBudgets with an error, whatever they allow.',
  fix: 'Let each pod match one budget: narrow a selector, or merge the budgets.',
  details:
    'Under two PodDisruptionBudgets a pod cannot be evicted at all: the API answers 500 and a drain stops there. Under ' +
    'two PodUnavailableBudgets both are asked and the stricter decides, which is a warning: it works, but two numbers ' +
    'for one thing rarely stay in agreement.',
  *check(facts) {
    yield* overlaps(facts, 'pdbs');
    yield* overlaps(facts, 'pubs');
  },
};

function* overlaps(facts: LintFacts, which: 'pdbs' | 'pubs'): Generator<Problem> {
  const pairs = new Map<string, { first: LintedBudget; second: LintedBudget; example: string; pods: number }>();
  for (const pod of facts.pods) {
    const views = [...facts.covering(pod)[which]].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
    for (const [at, first] of views.entries()) {
      for (const second of views.slice(at + 1)) {
        const key = `${pod.facts.namespace}/${nameOf(first)}/${nameOf(second)}`;
        const pair = pairs.get(key) ?? { first, second, example: shortNameOf(pod.set.root), pods: 0 };
        pair.pods += 1;
        pairs.set(key, pair);
      }
    }
  }
  for (const { example, first, pods, second } of pairs.values()) {
    const effect = which === 'pdbs' ? 'evicting any of them fails' : 'both are asked and the stricter decides';
    yield {
      object: second.object,
      path: second.object.spec?.selector ? 'spec.selector' : 'spec',
      message: `selects ${pods} pods (${example}) that ${nameOf(first)} also selects; ${effect}`,
      ...(which === 'pubs' && { severity: 'warning' as const }),
    };
  }
}

const nameOf = ({ object }: LintedBudget): string => object.metadata.name ?? '';
