/** What must be so when nothing goes wrong any more and everybody has had time: nothing is stuck, nothing half done. */
import type { History, StoredObject } from '../history.ts';
import { selects, unitsUp } from './budgets.ts';
import type { Violated } from './oracle.ts';
import { groupOf, isFinished, isLeaving, isReady, nodeOf } from './pods.ts';

export function checkRest(history: History, violated: Violated): void {
  for (const [key, { metadata }] of history.state)
    if (metadata.deletionTimestamp !== undefined) violated('rest', `${key} is still being deleted`);
  const pods = history.select('pods');
  for (const set of history.select('replicasets')) checkReplicas(set, pods, violated);
  for (const group of history.select('podgroups')) checkGang(group, pods, violated);
  checkBudgets(history, pods, violated);
}

function checkReplicas(set: StoredObject, pods: readonly StoredObject[], violated: Violated): void {
  const own = pods.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === set.metadata.uid));
  const active = own.filter((pod) => !isFinished(pod));
  const { name } = set.metadata;
  const wanted = set.spec.replicas as number;
  if (active.length !== wanted) violated('rest', `${name} has ${active.length} pods, ${wanted} are asked for`);
  for (const pod of active) {
    if (nodeOf(pod) === undefined) violated('rest', `${pod.metadata.name} has no node`);
    else if (!isReady(pod)) violated('rest', `${pod.metadata.name} on ${nodeOf(pod)} is not ready`);
  }
  const told = (set.status?.readyReplicas as number | undefined) ?? 0;
  const ready = active.filter(isReady).length;
  if (told !== ready) violated('rest', `${name} says that ${told} of its pods are ready, ${ready} are`);
}

function checkGang(group: StoredObject, pods: readonly StoredObject[], violated: Violated): void {
  const { name } = group.metadata;
  const members = pods.filter((pod) => groupOf(pod) === name && !isFinished(pod));
  const minimum = group.spec?.schedulingPolicy?.gang?.minCount as number;
  const bound = members.filter((pod) => nodeOf(pod) !== undefined).length;
  if (members.length >= minimum && bound < minimum)
    violated('gang', `${bound} of ${members.length} pods of ${name} have a node, it needs ${minimum}`);
}

function checkBudgets(history: History, pods: readonly StoredObject[], violated: Violated): void {
  const minimums = new Map(
    history
      .select('podgroups')
      .map(({ metadata, spec }) => [metadata.name, spec.schedulingPolicy.gang.minCount as number]),
  );
  for (const budget of history.select('poddisruptionbudgets')) {
    const { metadata, spec, status } = budget;
    if (status?.observedGeneration !== metadata.generation)
      violated('rest', `the status of ${metadata.name} is of generation ${status?.observedGeneration}`);
    const spare = unitsUp(pods, budget, minimums) - (spec.minAvailable as number);
    const allowed = (status?.disruptionsAllowed as number | undefined) ?? 0;
    if (spare > 0 !== allowed > 0)
      violated('rest', `${metadata.name} has ${spare} units to spare and publishes ${allowed}`);
    for (const name of Object.keys(status?.disruptedPods ?? {}))
      if (!pods.some((pod) => pod.metadata.name === name && selects(budget, pod) && !isLeaving(pod)))
        violated('rest', `${metadata.name} still waits for ${name}, which is gone`);
  }
}
