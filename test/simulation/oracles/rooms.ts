/** Nodes never hold more than they have room for, by what is stored of pods and nodes. */
import type { History } from '../history.ts';
import type { Violated } from './oracle.ts';
import { isFinished, nodeOf } from './pods.ts';

export function watchRooms(history: History, violated: Violated): void {
  history.onCommit((commit) => {
    for (const { after, before, key } of commit) {
      if (!key.startsWith('/registry/core/pods/') || after === undefined) continue;
      const node = nodeOf(after);
      if (node === undefined || before === undefined || nodeOf(before) === node) continue;
      if (nodeOf(before) !== undefined) violated('bound', `${after.metadata.name} moved to ${node}`);
      const stored = history.state.get(`/registry/core/nodes/${node}`);
      const cpus = Number(stored?.status?.allocatable?.cpu ?? Number.POSITIVE_INFINITY);
      const pods = history.select('pods').filter((pod) => nodeOf(pod) === node && !isFinished(pod));
      const used = pods.reduce((sum, pod) => sum + Number(pod.spec.containers[0]?.resources?.requests?.cpu ?? 0), 0);
      if (used > cpus) violated('room', `${node} has ${cpus} CPUs and was given ${used} by ${after.metadata.name}`);
    }
  });
}
