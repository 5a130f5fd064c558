import type { Node, Pod } from '../api/generated/core-v1.ts';
import { namespaceType, nodeType, podType } from '../api/resource-types.ts';
import type { Informers } from '../machinery/runtime/index.ts';
import { deepEqual } from '../machinery/values/index.ts';
import { nodeEvents } from './cluster-event.ts';
import type { SchedulerDeps } from './deps.ts';
import { entityGroupOf, entityKeyOf } from './entities.ts';
import type { Entity } from './entity.ts';
import type { GroupChange } from './group-objects.ts';
import { hasNewSpec, type KnownPod, type PodChange, uidOf } from './pod-book.ts';

/** Keeps the picture of the cluster current, and wakes whoever an event could help. */
export function watchCluster(deps: SchedulerDeps, informers: Informers): void {
  const { book, clock, cluster, queue } = deps;
  informers.of(nodeType).addHandler({
    added: (node) => {
      cluster.setNode(node);
      queue.notify('NodeAdded');
    },
    updated: (node, old) => nodeChanged(deps, node, old),
    deleted: ({ metadata }) => {
      cluster.removeNode(metadata.name ?? '');
      queue.notify('NodeGone');
    },
  });
  informers.of(namespaceType).addHandler({
    added: ({ metadata }) => {
      cluster.namespaceLabels.set(metadata.name ?? '', metadata.labels ?? {});
    },
    updated: ({ metadata }, old) => {
      if (deepEqual(metadata.labels, old.metadata.labels)) return;
      cluster.namespaceLabels.set(metadata.name ?? '', metadata.labels ?? {});
      queue.notify('NamespaceLabels');
    },
    deleted: ({ metadata }) => {
      cluster.namespaceLabels.delete(metadata.name ?? '');
    },
  });
  informers.of(podType).addHandler({
    added: (pod) => podChanged(deps, pod, book.observe(pod, clock.now())),
    updated: (pod, old) => {
      // The same name with another UID: the old pod is gone without a word.
      if (uidOf(pod) !== uidOf(old)) podChanged(deps, old, book.forget(uidOf(old)));
      podChanged(deps, pod, book.observe(pod, clock.now()));
    },
    deleted: (pod) => podChanged(deps, pod, book.forget(uidOf(pod))),
  });
}

function nodeChanged({ cluster, queue }: SchedulerDeps, node: Node, old: Node): void {
  const events = nodeEvents(old, node);
  if (events.length === 0) return;
  cluster.setNode(node);
  for (const event of events) queue.notify(event);
}

function podChanged(deps: SchedulerDeps, pod: Pod, { before, known }: PodChange): void {
  const { permit, queue } = deps;
  if (known === undefined) {
    if (before.standing !== undefined) podGone(deps, pod, before.standing !== 'pending');
    return;
  }
  if (known.standing === 'assigned') {
    if (before.standing === 'assigned') {
      if (before.pod !== undefined && !deepEqual(before.pod.metadata.labels, pod.metadata.labels)) {
        queue.notify('PodLabels');
      }
      return;
    }
    if (known.group === undefined) queue.remove(entityKeyOf(known, deps.treeOf));
    else {
      permit.drop(known);
      permit.review(known.group);
      requeueGroup(deps, known);
    }
    queue.notify('PodAssigned');
    return;
  }
  if (known.standing === 'assumed') {
    // A pod that is being deleted gives its place back before it is bound.
    if (pod.metadata.deletionTimestamp) {
      permit.drop(known);
      deps.book.release(known);
      queue.notify('PodGone');
    }
    return;
  }
  if (before.standing === undefined || isNews(before.pod, pod)) requeuePod(deps, known);
}

/** Changes to a pending pod itself that make another try worthwhile; its own status does not. */
function isNews(old: Pod | undefined, pod: Pod): boolean {
  return (
    old === undefined ||
    hasNewSpec(old, pod) ||
    !deepEqual(old.metadata.labels, pod.metadata.labels) ||
    Boolean(old.metadata.deletionTimestamp) !== Boolean(pod.metadata.deletionTimestamp)
  );
}

function podGone(deps: SchedulerDeps, pod: Pod, hadPlace: boolean): void {
  const { queue } = deps;
  queue.remove(`pod:${uidOf(pod)}`);
  if (hadPlace) queue.notify('PodGone');
}

type Requeuing = Pick<SchedulerDeps, 'queue' | 'schedulerName' | 'treeOf'>;

/** Puts a pending pod, or the group it belongs to, in line. */
export function requeuePod(deps: Requeuing, known: KnownPod, { rested = false } = {}): void {
  const { queue, schedulerName } = deps;
  const key = entityKeyOf(known, deps.treeOf);
  if ((known.pod.spec?.schedulerName ?? 'default-scheduler') !== schedulerName) {
    if (known.group !== undefined) requeueGroup(deps, known);
    return;
  }
  if (known.pod.metadata.deletionTimestamp) {
    if (known.group === undefined) queue.remove(key);
    return;
  }
  const { priority } = known.facts;
  const group = entityGroupOf(known, deps.treeOf);
  queue.add(key, { group, priority: deps.treeOf(known)?.priority ?? priority, since: known.since });
  const entity = rested ? queue.get(key) : undefined;
  if (entity !== undefined) queue.retry(entity, 1);
}

function requeueGroup(deps: Requeuing, known: KnownPod): void {
  requeueHeld(deps, deps.queue.get(entityKeyOf(known, deps.treeOf)));
}

function requeueHeld({ queue }: Pick<Requeuing, 'queue'>, entity: Entity | undefined): void {
  if (entity?.state === 'held') queue.add(entity.key, entity);
}

/** A group or Workload came, changed or went: its pods may have become complete. */
export function watchGroup(deps: SchedulerDeps, { kind, name, namespace }: GroupChange): void {
  const { book, permit } = deps;
  if (kind === 'CompositePodGroup') {
    // What is one tree may have changed for every group of the namespace; composites come and go rarely.
    for (const member of book.groupsIn(namespace)) regroup(deps, member.group ?? '');
    return;
  }
  if (kind === 'PodGroup') {
    const group = `${namespace}/${name}`;
    permit.review(group);
    const entity = deps.queue.get(`group:${group}`);
    if (entity !== undefined) entity.failedAt = -1;
    requeueHeld(deps, entity);
    if (deps.groups.podGroup(namespace, name)?.spec.parentCompositePodGroupName !== undefined) regroup(deps, group);
    return;
  }
  // Whose template it is only the pods know; a Workload changes rarely.
  for (const group of deps.queue.heldGroups()) {
    if (!group.startsWith(`${namespace}/`)) continue;
    permit.review(group);
    requeueHeld(deps, deps.queue.get(`group:${group}`));
  }
}

/** Puts pods that wait in line with the tree they are part of now. */
function regroup(deps: SchedulerDeps, group: string): void {
  deps.permit.review(group);
  for (const member of deps.book.members(group)) if (member.standing === 'pending') requeuePod(deps, member);
}
