/** The budgets over groups as numbers, one replica's view of them: whoever adds up replicas takes the largest. */
import type { ObjectMeta } from '../../api/generated/meta-v1.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import type { DisruptionLedger, DisruptionLedgerStatus } from '../../api/quorate/types.ts';
import type { DisruptionIndex } from '../../decisions/disruption/index.ts';
import type { Clock, Informer, LabelOf, Metrics, Named } from '../../machinery/runtime/index.ts';
import { type DrainReports, type TellJudged } from '../../webhook/index.ts';

export interface BudgetSources {
  readonly clock: Clock;
  readonly ledgers: Informer<DisruptionLedger>;
  readonly budgets: Informer<PodDisruptionBudget>;
  readonly index: DisruptionIndex;
  readonly drains: DrainReports;
}

const UNITS = {
  quorate_budget_units_expected: ({ expectedPods }) => expectedPods,
  quorate_budget_units_available: ({ currentHealthy }) => currentHealthy,
  quorate_budget_units_desired: ({ desiredHealthy }) => desiredHealthy,
  quorate_budget_units_disruptions_allowed: ({ disruptionsAllowed }) => disruptionsAllowed,
} as const satisfies Partial<Record<Named<'gauge'>, (status: DisruptionLedgerStatus) => number | undefined>>;

type Budget = LabelOf<keyof typeof UNITS>;

export function countBudgets(metrics: Metrics, sources: BudgetSources): void {
  const { budgets, clock, drains, index, ledgers } = sources;
  const overGroups = () => ledgers.list().filter(({ status }) => status?.unit === 'PodGroup');
  for (const name of Object.keys(UNITS) as (keyof typeof UNITS)[]) {
    metrics.countedGauge(name, () =>
      overGroups().map(({ metadata, status = {} }) => [labelsOf(metadata), UNITS[name](status) ?? 0]),
    );
  }
  metrics.countedGauge('quorate_budget_pods_disruptions_allowed', () =>
    overGroups().flatMap(({ metadata: { name = '', namespace = '' } }) => {
      const { status } = budgets.get({ namespace, name }) ?? {};
      return status === undefined ? [] : [[labelsOf({ name, namespace }), status.disruptionsAllowed ?? 0]];
    }),
  );
  metrics.countedGauge('quorate_budget_grants_outstanding', () =>
    overGroups().flatMap(({ metadata, status }) => {
      const byKind = new Map<string, number>();
      for (const { kind } of status?.grants ?? []) byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
      return [...byKind].map(([kind, count]) => [{ ...labelsOf(metadata), kind }, count]);
    }),
  );
  metrics.countedGauge('quorate_budget_refused_seconds', function* () {
    for (const { budget, namespace, seconds } of drains.refused()) yield [{ namespace, budget }, seconds];
  });
  metrics.countedGauge('quorate_fallback_to_pods', function* () {
    for (const { name, namespace = '' } of index.budgets()) {
      const mode = index.count(namespace, name, clock.now(), { settled: true })?.mode;
      if (mode?.fallback) yield [labelsOf({ name, namespace }), 1];
    }
  });
  forgetWith(metrics, ledgers, drains);
}

function labelsOf({ name = '', namespace = '' }: Pick<ObjectMeta, 'name' | 'namespace'>): Record<Budget, string> {
  return { namespace, budget: name };
}

/** The series of a budget go with its ledger. */
function forgetWith(metrics: Metrics, ledgers: Informer<DisruptionLedger>, drains: DrainReports): void {
  const refusals = metrics.counter('quorate_eviction_refusals_total');
  ledgers.addHandler({
    deleted({ metadata: { name = '', namespace = '' } }) {
      drains.forget(namespace, name);
      void refusals.get().then(({ values }) => {
        for (const { labels } of values) {
          if (labels.namespace === namespace && labels.budget === name) refusals.remove(labels);
        }
      });
    },
  });
}

/** Counts what becomes of evictions. */
export function countJudged(metrics: Metrics): TellJudged {
  const reviews = metrics.counter('quorate_eviction_reviews_total');
  const refusals = metrics.counter('quorate_eviction_refusals_total');
  const pins = metrics.counter('quorate_pins_total');
  return ({ namespace }, { budget = '', pin, reason, result }) => {
    reviews.inc({ result, reason });
    if (result === 'refused') refusals.inc({ namespace, budget, reason });
    if (pin !== undefined) pins.inc({ pin });
  };
}
