import { type IntOrPercent, parsePercent } from '../../machinery/values/index.ts';
import type { Best, PdbView } from './pdb-view.ts';
import type { PubView } from './pub-view.ts';

export type LintedBudget = PdbView | PubView;

/** The field that sets a budget's number, and what the number comes to with everything well. */
export interface Bound {
  readonly field: 'minAvailable' | 'maxUnavailable';
  readonly value: IntOrPercent;
  /** A percentage between nothing and everything, which rounding alone can turn into either. */
  readonly partial: boolean;
}

/** Undefined where neither field is set. A budget with both is judged by the one that asks for more. */
export function boundOf(view: LintedBudget): Bound | undefined {
  const { maxUnavailable, minAvailable } = view.object.spec ?? {};
  const both = isSet(maxUnavailable) && isSet(minAvailable);
  const field = both
    ? view.kind === 'PodUnavailableBudget' && view.best?.constraint === 'minAvailable'
      ? 'minAvailable'
      : 'maxUnavailable'
    : isSet(maxUnavailable)
      ? 'maxUnavailable'
      : 'minAvailable';
  const value = field === 'maxUnavailable' ? maxUnavailable : minAvailable;
  if (!isSet(value)) return undefined;
  const percent = parsePercent(value);
  return { field, value, partial: percent !== undefined && percent > 0 && percent < 100 };
}

/** The numbers of either budget in the same words; undefined when they are unknown or it has no pods. */
export function bestOf(view: LintedBudget): Best | undefined {
  if (view.pods.length === 0 || view.best === undefined) return undefined;
  if (view.kind === 'PodDisruptionBudget') return view.best;
  const { allowed, available, desired, total } = view.best;
  return { expected: total, desired, healthy: available, allowed };
}

/** What a budget counts. */
export function unitOf(view: LintedBudget): 'pod' | 'group' {
  if (view.kind === 'PodUnavailableBudget') return view.object.spec?.podGroupPolicy === undefined ? 'pod' : 'group';
  return view.count.mode.unit === 'PodGroup' ? 'group' : 'pod';
}

const isSet = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null;
