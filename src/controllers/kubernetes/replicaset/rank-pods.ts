import { controllerOf } from '../../../api/core/owner.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { planPickerCall, rankByColocation, type Ranks } from '../../../decisions/downscale/index.ts';
import { askPicker } from '../../shared/picker/index.ts';
import { ownedBy } from '../../shared/pod-control/index.ts';
import type { ReplicaDeps } from './deps.ts';
import type { ReplicaOwner } from './kind.ts';

const TIED: Ranks = { by: 'Tied' };

/**
 * The ranks of a downscale. With a picker configured its answer ranks the pods, and colocation has no say unless the
 * picker has no opinion; whatever goes wrong with it leaves the pods tied. May wait for the picker.
 */
export async function rankPods<T extends ReplicaOwner>(
  deps: ReplicaDeps<T>,
  owner: T,
  { count, pods }: { count: number; pods: readonly Pod[] },
): Promise<Ranks> {
  const { context, events, kind, picker: pickerAccess, slots } = deps;
  const picker = deps.gates.enabled('DownscalePodPicker') ? kind.pickerOf(owner) : undefined;
  if (picker === undefined) return rankByColocation(relatedPods(deps, owner));
  const plan = planPickerCall(pods, count);
  if (!plan.ask) return TIED;

  const { question } = plan;
  const reading = await slots.lend(() =>
    askPicker({ owner, picker, question }, { protocols: pickerAccess, events, ...context, shutdown: context.signal }),
  );
  if (reading === undefined) return TIED;
  if (reading.reason === 'NoOpinion') return rankByColocation(relatedPods(deps, owner));
  return reading.ranks;
}

/** Pods selected by any ReplicaSet of the same controller owner; none for an owner without one. */
function* relatedPods<T extends ReplicaOwner>({ kind, owners, pods }: ReplicaDeps<T>, owner: T): Generator<Pod> {
  const controller = controllerOf(owner);
  if (!kind.hasRelatives || controller === undefined) return;
  const family = { metadata: { uid: controller.uid } };
  for (const sibling of ownedBy(owners, family)) {
    yield* pods.select(owner.metadata.namespace, kind.selectorOf(sibling));
  }
}
