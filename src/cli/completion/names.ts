/** Names that are completed: of the cluster that the flags point to, of a kubeconfig, of stories. */
import type { ResourceType } from '../../api/resource.ts';
import { namespaceType, nodeType, podDisruptionBudgetType, podType } from '../../api/resource-types.ts';
import { FED_KINDS } from '../../decisions/disruption/index.ts';
import { UNAVAILABILITY_KINDS } from '../../decisions/unavailability/index.ts';
import { contextNames } from '../../machinery/runtime/index.ts';
import { stories } from '../../tasks/index.ts';
import { type ClusterConnection, openCluster } from '../shared/cluster.ts';
import type { Source, WantedNext } from './wanted.ts';

/** Whoever presses Tab waits for no longer. */
const PATIENCE_MS = 2000;
const MOST = 1000;

const podGroupTypes = FED_KINDS.flatMap(({ types }) => types).filter(({ kind }) => kind === 'PodGroup');
const guardTypes = UNAVAILABILITY_KINDS.find(({ role }) => role === 'Budget')?.types ?? [];

/** What `why` can be asked about, by the word before the slash. */
const TARGETS: readonly (readonly [string, readonly ResourceType[]])[] = [
  ['pod', [podType]],
  ['pdb', [podDisruptionBudgetType]],
  ['pub', guardTypes],
  ['podgroup', podGroupTypes],
  ['node', [nodeType]],
];

/** Empty where nobody answers: a completion that fails says nothing. */
export async function namesFor(source: Source, flags: WantedNext['flags'], last: string): Promise<string[]> {
  try {
    if (source === 'stories') return stories.map(({ name }) => name);
    if (source === 'contexts') return contextNames({ path: flags.get('--kubeconfig') });
    if (source === 'files') return [];
    const cluster = openCluster({
      kubeconfig: flags.get('--kubeconfig'),
      context: flags.get('--context'),
      namespace: flags.get('--namespace'),
      as: flags.get('--as'),
      requestTimeout: PATIENCE_MS,
    } as Parameters<typeof openCluster>[0]);
    try {
      return await ask(cluster, source, last);
    } finally {
      cluster.close();
    }
  } catch {
    return [];
  }
}

async function ask(cluster: ClusterConnection, source: Source, last: string): Promise<string[]> {
  if (source === 'nodes') return list(cluster, [nodeType]);
  if (source === 'namespaces') return list(cluster, [namespaceType]);
  if (source === 'podgroups') return list(cluster, podGroupTypes);
  const [word = '', name] = last.split(/\/(.*)/s);
  const target = TARGETS.find(([one]) => one === word);
  if (name === undefined || target === undefined) return TARGETS.map(([one]) => `${one}/`);
  return (await list(cluster, target[1])).map((one) => `${word}/${one}`);
}

/** A kind may be served under one of several versions, or not at all. */
async function list({ client, namespace }: ClusterConnection, types: readonly ResourceType[]): Promise<string[]> {
  const lists = await Promise.allSettled(
    types.map((type) => client.list(type, { ...(type.namespaced && { namespace }), limit: MOST, metadataOnly: true })),
  );
  const names = lists.flatMap((one) =>
    one.status === 'fulfilled' ? one.value.items.map(({ metadata }) => metadata.name ?? '') : [],
  );
  return [...new Set(names)].sort();
}
