import { type MaintenanceSpec, maintenanceType } from '../../api/quorate/maintenance.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { openCluster } from '../shared/cluster.ts';
import { failWith } from '../shared/fail.ts';
import { formatOutput } from '../shared/output.ts';
import type { DrainFlags } from './flags.ts';
import { nodesOf } from './nodes.ts';

/** What a Maintenance has no field for. */
const ATTACHED: readonly (keyof DrainFlags)[] = ['podSelector', 'dryRun', 'plan', 'replan'];

/** Makes a Maintenance of the request and returns: its controller does the rest. */
export async function runDetached(named: readonly string[], flags: DrainFlags): Promise<number> {
  try {
    const odd = ATTACHED.find((flag) => flags[flag] !== undefined);
    if (odd !== undefined) {
      const name = odd.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      throw new Error(`--${name} cannot go with --detach; leave out one of them`);
    }
    const cluster = openCluster(flags);
    try {
      const nodes = await nodesOf(cluster.client, named, flags.selector);
      const made = await cluster.client.create(maintenanceType, {
        metadata: { generateName: 'drain-' },
        spec: specOf(nodes, flags, Date.now()),
      });
      const { name = '' } = made.metadata;
      const lines = [`maintenance ${name} created`, `To follow it: quorate maintenance show ${name} --watch`];
      process.stdout.write(formatOutput(made, lines, flags.output));
      return 0;
    } finally {
      cluster.close();
    }
  } catch (error) {
    return failWith('drain', error);
  }
}

/** A drain as the spec of a Maintenance. */
export function specOf(nodes: readonly string[], flags: DrainFlags, now: number): MaintenanceSpec {
  return {
    nodes: { names: [...new Set(nodes)] },
    mode: flags.bestEffort === true ? 'BestEffort' : 'AllOrNothing',
    ...(flags.timeout > 0 && { deadline: formatTime(now + flags.timeout) }),
    pods: {
      force: flags.force === true,
      deleteEmptyDirData: flags.deleteEmptydirData === true,
      ...(flags.gracePeriod !== undefined && { gracePeriodSeconds: flags.gracePeriod }),
    },
  };
}
