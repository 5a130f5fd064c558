/** Groups for those who ask for them: made as their pods come, tended by the leader. */
import { jobSetType } from '../../api/jobset/types.ts';
import { kruiseLeaderWorkerSetType, leaderWorkerSetType } from '../../api/lws/types.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { jobType } from '../../api/resource-types.ts';
import { discoverGroupApi } from '../../api/scheduling/index.ts';
import type { OwnHost } from '../../controllers/quorate/index.ts';
import { ClusterGroupMaker, madeKinds, verdictOf } from '../../controllers/quorate/group-making/index.ts';
import { asksForGroups, type MakingVerdict } from '../../decisions/group-making/index.ts';
import { type Client, FeatureGates, type InformerSet, type Metrics } from '../../machinery/runtime/index.ts';
import { type LinkResult, type LinkWebhook, reviewLink, reviewOwner, type ReviewHandler } from '../../webhook/index.ts';
import type { Components } from '../run-components.ts';
import { isServed, readServed } from './discovery.ts';
import type { Guard } from './guard.ts';
import type { OperatorOptions } from './options.ts';

export interface GroupMaking {
  readonly handlers: readonly [path: string, handler: ReviewHandler][];
  /** For the controller that tends them. */
  readonly parts?: OwnHost['groupMaking'];
}

interface MakingParts {
  readonly client: Client;
  readonly components: Components;
  readonly guard: Guard;
  readonly metrics: Metrics;
}

const NOTHING: GroupMaking = { handlers: [] };

/** Kinds of other software whose objects may ask. */
const OTHER_OWNERS = [jobSetType, leaderWorkerSetType, kruiseLeaderWorkerSetType] as readonly ResourceType[];

export async function openGroupMaking(
  { gates = new FeatureGates(), log }: OperatorOptions,
  { client, components, guard, metrics }: MakingParts,
): Promise<GroupMaking> {
  if (!gates.enabled('GroupCreation')) return NOTHING;
  const kinds = madeKinds(await discoverGroupApi((path) => readServed(client, path)));
  if (kinds === undefined) {
    log.info({}, 'no groups are made: neither the cluster nor definitions of ours serve Workloads and PodGroups');
    return { handlers: handlersOf({ maker: undefined, verdictOf: notAsked, linked: () => {} }, guard) };
  }
  const { eventsFor, informers } = components;
  const served: ResourceType[] = [];
  for (const type of OTHER_OWNERS) if (await isServed(client, type)) served.push(type);
  const maker = new ClusterGroupMaker({ client, informers, events: eventsFor('quorate'), kinds });
  const lookup = { client, informers, abilities: maker.abilities, served };
  followAsking(informers, [jobType as ResourceType, ...served], guard);
  const linked = metrics.counter('quorate_pods_linked_total');
  const link = {
    maker,
    verdictOf: (pod: Parameters<typeof verdictOf>[1]) => verdictOf(lookup, pod),
    linked: (result: LinkResult) => linked.inc({ result }),
  };
  return { handlers: handlersOf(link, guard), parts: { maker, lookup } };
}

const notAsked = (): Promise<MakingVerdict> => Promise.resolve({ reason: 'NotAsked' });

function handlersOf(link: LinkWebhook, guard: Guard): GroupMaking['handlers'] {
  return [
    ['/link-pod', (request) => reviewLink(link, request)],
    ['/expect-groups', (request, signal) => reviewOwner(guard, request, signal)],
  ];
}

/** New pods are asked about where somebody asks for groups. */
function followAsking(informers: InformerSet, types: readonly ResourceType[], { linking }: Guard): void {
  const owners = types.map((type) => informers.of(type));
  const look = linking(() =>
    owners.flatMap((informer) =>
      informer.list().flatMap((owner) => (asksForGroups(owner).asks ? (owner.metadata.namespace ?? '') : [])),
    ),
  );
  const seen = (owner: KubeObject): void => {
    if (asksForGroups(owner).asks) look();
  };
  for (const informer of owners) informer.addHandler({ added: seen, updated: seen, deleted: seen });
}
