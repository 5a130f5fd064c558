/** PodUnavailableBudgets on the embedded host: what guards pods, and in which transaction. */
import type { RoomJudge } from '../../decisions/disruption/index.ts';
import type { RefusedRequest, UnavailabilityGates } from '../../decisions/unavailability/index.ts';
import type { AdmissionPlugin } from '../context/admission-plugin.ts';
import type { EvictionGuard } from '../eviction/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import { unavailabilityGuard } from './guard.ts';
import type { Guarding } from './judge-request.ts';
import { budgetValidationPlugin, podGuardPlugin, relatedBudgetPlugin } from './plugin.ts';
import { UnavailabilityView } from './view.ts';

export { type Guarding, writeStatus } from './judge-request.ts';

export interface UnavailabilityOptions {
  readonly gates: UnavailabilityGates;
  readonly compat?: boolean;
  readonly refused?: (refusal: RefusedRequest) => void;
  /** Who knows the nodes, for budgets that ask for room. */
  readonly room?: () => RoomJudge | undefined;
}

export interface Unavailability {
  readonly plugins: readonly AdmissionPlugin[];
  readonly guard: EvictionGuard;
  readonly guarding: Guarding;
}

/** Needs the resources of pods, their owners and PodUnavailableBudgets to be registered already. */
export function createUnavailability(
  context: ServerContext,
  { compat = false, gates, refused = () => {}, room = () => undefined }: UnavailabilityOptions,
): Unavailability {
  const view = new UnavailabilityView(context, { compat });
  const guarding: Guarding = { context, view, gates, compat, refused, room };
  return {
    plugins: [budgetValidationPlugin(guarding), relatedBudgetPlugin(guarding), podGuardPlugin(guarding)],
    guard: unavailabilityGuard(guarding),
    guarding,
  };
}
