import type { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { askDevices, chooseDevices } from './devices.ts';
import { findVolume } from './volumes.ts';

/** Puts a pod that was found to fit on its node, with the volumes and devices it takes there. */
export function settle(pod: PodFacts, node: NodeFacts, cluster: Cluster): void {
  const devices = askDevices(pod, cluster);
  const grants = devices === undefined ? [] : chooseDevices(devices, node);
  for (const name of cluster.volumes.known ? pod.claims : []) {
    const claim = cluster.volumes.claimOf(pod.pod, name);
    if (claim?.state !== 'Unbound') continue;
    const volume = findVolume(cluster.volumes, claim, node);
    if (volume !== undefined) cluster.volumes.pick(volume.name, claim.key);
  }
  cluster.place(pod, node.name);
  cluster.devices.give(pod.uid, grants, node.name);
}
