import { bestOf, type LintedBudget, boundOf, unitOf } from '../bound.ts';
import type { Problem, LintRule } from '../finding.ts';
import { countOf } from '../pod-set.ts';

export const neverAllowsDrain: LintRule = {
  name: 'never-allows-drain',
  severity: 'error',
  what: 'A budget that allows no disruption even when everything is healthy',
  why: 'Evictions are refused for ever, so a drain or an upgrade of any node these pods run on never ends.',
  fix: 'Let at least one pod or group go: raise maxUnavailable, lower minAvailable, or run one replica more.',
  details:
    'The rule counts as if every pod were running and ready. If the budget then still allows nothing, no waiting helps: ' +
    'maxUnavailable 0, minAvailable equal to the number of replicas, 100%, or neither field set. The usual case is ' +
    'minAvailable 1 on a workload with one replica. Numbers above the size are reported by threshold-above-size and ' +
    'percentages that rounding turns into everything by percentage-rounds-away.',
  *check({ pdbs, pubs, source }) {
    for (const view of [...pdbs, ...pubs]) {
      // A file may hold the budget alone; some numbers allow nothing whatever the pods are.
      if (source === 'Manifests' && view.pods.length === 0) yield* checkAlone(view);
      else yield* checkBudget(view);
    }
  },
};

function* checkAlone({ object }: LintedBudget): Generator<Problem> {
  const { maxUnavailable, minAvailable } = object.spec ?? {};
  const field = isNone(maxUnavailable) ? 'maxUnavailable' : minAvailable === '100%' ? 'minAvailable' : undefined;
  if (field === undefined) return;
  const value = field === 'maxUnavailable' ? maxUnavailable : minAvailable;
  const message = `${field} ${value} keeps everything up, however many there are, so none may ever go`;
  const fix = 'Set maxUnavailable to at least 1, or minAvailable below the number of replicas.';
  yield { object, path: `spec.${field}`, message, fix };
}

const isNone = (value: number | string | undefined): boolean => value === 0 || value === '0%';

function* checkBudget(view: LintedBudget): Generator<Problem> {
  const best = bestOf(view);
  if (best === undefined || best.allowed > 0) return;
  if (view.kind === 'PodUnavailableBudget' && best.desired === 0) return;
  const bound = boundOf(view);
  if (bound === undefined) {
    const message = 'neither minAvailable nor maxUnavailable is set, and such a budget refuses every eviction';
    yield { object: view.object, path: 'spec', message, fix: 'Set maxUnavailable: 1, or delete the budget.' };
    return;
  }
  if (bound.partial || best.expected === 0 || best.desired > best.expected) return;
  const unit = unitOf(view);
  const { expected } = best;
  const message = `${bound.field} ${bound.value} keeps ${best.desired} of ${countOf(expected, unit)} up, so none may ever go`;
  const fix =
    expected === 1
      ? `Run a second ${unit === 'pod' ? 'replica' : 'group'} before asking for one to stay, or set maxUnavailable: 1.`
      : bound.field === 'minAvailable'
        ? `Set minAvailable to at most ${expected - 1}, or use maxUnavailable: 1, which also follows a change of replicas.`
        : 'Set maxUnavailable to at least 1.';
  yield { object: view.object, path: `spec.${bound.field}`, message, fix };
}
