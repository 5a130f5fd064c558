import { isMirrorPod } from '../../api/core/pod-state.ts';
import { controllerOf } from '../../api/core/owner.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { DrainPlan } from '../drain-plan/index.ts';
import { idOf } from './units.ts';

export type StatementKind =
  | 'Assumed'
  | 'DaemonSet'
  | 'Finished'
  | 'Foreign'
  | 'Gated'
  | 'LocalStorage'
  | 'Static'
  | 'Unmanaged'
  | 'Waiting';

/** Something a plan says beside its steps; none of it keeps the rest from being planned. */
export interface Statement {
  readonly kind: StatementKind;
  readonly pods: readonly string[];
  /** What `quorate drain` has to be told before it takes these pods. */
  readonly flag?: string | undefined;
  readonly text: string;
}

const FLAGS: Partial<Record<StatementKind, string>> = {
  DaemonSet: '--ignore-daemonsets',
  LocalStorage: '--delete-emptydir-data',
  Unmanaged: '--force',
};

const TEXTS: Readonly<Record<Exclude<StatementKind, 'Assumed'>, string>> = {
  DaemonSet: 'pods of DaemonSets stay with their node',
  Finished: 'finished pods are removed and hold nothing',
  Foreign: 'placed by another scheduler, whose rules are not known',
  Gated: 'replacements wait until their scheduling gates are lifted',
  LocalStorage: 'pods with local storage: what is in it is lost',
  Static: 'static pods stay with their node',
  Unmanaged: 'nobody makes these pods again',
  Waiting: 'pods that wait for a place now, and may take room first',
};

const SCHEDULERS: ReadonlySet<string> = new Set(['default-scheduler', 'quorate-scheduler']);

/** What else there is to say about pods on the nodes to drain. */
export function statementsOf({
  drain,
  pods,
  plan,
}: {
  pods: readonly Pod[];
  drain: ReadonlySet<string>;
  plan: DrainPlan;
}): Statement[] {
  const found = new Map<Exclude<StatementKind, 'Assumed'>, string[]>();
  const say = (kind: Exclude<StatementKind, 'Assumed'>, pod: Pod): void => {
    found.set(kind, [...(found.get(kind) ?? []), idOf(pod)]);
  };
  for (const pod of pods) {
    const { nodeName, schedulerName, schedulingGates, volumes } = pod.spec ?? {};
    if (!nodeName && (schedulingGates?.length ?? 0) === 0 && pod.metadata.deletionTimestamp === undefined)
      say('Waiting', pod);
    if (!drain.has(nodeName ?? '')) continue;
    const { phase } = pod.status ?? {};
    if (phase === 'Succeeded' || phase === 'Failed') say('Finished', pod);
    else if (isMirrorPod(pod)) say('Static', pod);
    else if (controllerOf(pod)?.kind === 'DaemonSet') say('DaemonSet', pod);
    else {
      if (controllerOf(pod) === undefined) say('Unmanaged', pod);
      if (volumes?.some(({ emptyDir }) => emptyDir !== undefined) === true) say('LocalStorage', pod);
      if ((schedulingGates?.length ?? 0) > 0) say('Gated', pod);
      if (schedulerName && !SCHEDULERS.has(schedulerName)) say('Foreign', pod);
    }
  }
  const statements = [...found].map(([kind, names]): Statement => {
    const flag = FLAGS[kind];
    return { kind, pods: names.sort(), ...(flag && { flag }), text: TEXTS[kind] };
  });
  return [...assumed(plan), ...statements].sort((a, b) => (a.kind < b.kind ? -1 : 1));
}

const ASSUMED: Readonly<Record<string, string>> = {
  SameSpec: 'pods come back as they are, where their owner is not known',
  VolumesNotKnown: 'volumes could not be read and are not checked',
  VolumeProvisioning: 'volumes that do not exist yet can be made',
  OrderSampled: 'the scheduler finds places in the orders that were tried',
  DomainChoice: 'the scheduler takes the domain that holds all members',
  RoomOfTheGoing: 'room is used that groups leave as they go',
  BypassesScheduler: 'pods that name their node are not asked about by the scheduler',
};

/** The assumptions of all steps, each said once. */
function assumed({ steps }: DrainPlan): Statement[] {
  const list = new Set(
    steps.flatMap(({ evictions }) =>
      evictions.flatMap(({ confidence }) => (confidence.kind === 'exact' ? [] : confidence.list)),
    ),
  );
  const texts = [...list].sort().flatMap((one) => ASSUMED[one] ?? []);
  return texts.length === 0 ? [] : [{ kind: 'Assumed', pods: [], text: texts.join('; ') }];
}
