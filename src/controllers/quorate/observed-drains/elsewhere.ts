import type { Node } from '../../../api/generated/core-v1.ts';
import { CLAIM_ANNOTATION } from '../../../api/quorate/maintenance.ts';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { builtinType } from '../../../api/registry.ts';
import { ClusterReader } from '../../../cluster-state/cluster-reader.ts';
import {
  KURED_LOCK,
  MACHINE_ANNOTATION,
  MACHINE_NAMESPACE_ANNOTATION,
  type MarkContext,
} from '../../../decisions/observed-drains/index.ts';
import type { Client, Clock } from '../../../machinery/runtime/index.ts';

const custom = (
  group: string,
  kind: string,
  namespaced: boolean,
  ...versions: string[]
): readonly ResourceType<KubeObject>[] =>
  versions.map((version) => ({ group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced }));

const NODE_CLAIMS = custom('karpenter.sh', 'NodeClaim', false, 'v1', 'v1beta1');
const MACHINES = custom('cluster.x-k8s.io', 'Machine', true, 'v1beta2', 'v1beta1');
const NODE_MAINTENANCES = custom('nodemaintenance.medik8s.io', 'NodeMaintenance', false, 'v1beta1');
const DAEMON_SETS = [builtinType('DaemonSet', 'apps')];

/** A kind of which there is none is asked for again after so long; what stands elsewhere is asked for this often. */
const ABSENT_MS = 60_000;
const FRESH_MS = 1500;

type Read = readonly KubeObject[] | 'Unread';

/** Reads what other objects say about nodes, and only where a node gives a reason to. */
export class ElsewhereReader {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly until: number; readonly read: Read }>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async read(nodes: readonly Node[]): Promise<(node: Node) => Omit<MarkContext, 'seenAt'>> {
    const isKarpenters = nodes.some(
      ({ metadata, spec }) =>
        spec?.taints?.some(({ key }) => key.startsWith('karpenter.sh/')) === true ||
        metadata.finalizers?.includes('karpenter.sh/termination') === true,
    );
    const hasMachines = nodes.some(({ metadata }) => metadata.annotations?.[MACHINE_ANNOTATION] !== undefined);
    const isCordoned = nodes.some(
      ({ metadata, spec }) => spec?.unschedulable === true && metadata.annotations?.[CLAIM_ANNOTATION] === undefined,
    );
    const claims = isKarpenters ? await this.#list(NODE_CLAIMS) : [];
    const machines = hasMachines ? await this.#list(MACHINES) : [];
    const maintained = isCordoned ? await this.#list(NODE_MAINTENANCES) : [];
    const kuredNode = isCordoned ? lockOf(await this.#list(DAEMON_SETS)) : undefined;
    return (node) => {
      const { annotations, name = '' } = node.metadata;
      const machine = annotations?.[MACHINE_ANNOTATION];
      const within = annotations?.[MACHINE_NAMESPACE_ANNOTATION];
      return {
        nodeClaim: find(claims, (one) => field(one, 'status', 'nodeName') === name),
        machine:
          machine === undefined
            ? undefined
            : find(
                machines,
                ({ metadata }) => metadata.name === machine && (within === undefined || metadata.namespace === within),
              ),
        isMaintained: maintained !== 'Unread' && maintained.some((one) => field(one, 'spec', 'nodeName') === name),
        kuredNode,
      };
    };
  }

  async #list(types: readonly ResourceType<KubeObject>[]): Promise<Read> {
    const key = types[0]?.plural ?? '';
    const now = this.#clock.now();
    const known = this.#known.get(key);
    if (known !== undefined && known.until > now) return known.read;
    const reader = new ClusterReader(this.#client);
    const found = await reader.list(types);
    const read = reader.unread.length > 0 ? 'Unread' : found;
    const isThere = read !== 'Unread' && (read.length > 0 || types === DAEMON_SETS);
    this.#known.set(key, { until: now + (isThere ? FRESH_MS : types === NODE_CLAIMS ? FRESH_MS : ABSENT_MS), read });
    return read;
  }
}

const find = (read: Read, isIt: (one: KubeObject) => boolean): KubeObject | 'Unread' | undefined =>
  read === 'Unread' ? 'Unread' : read.find(isIt);

function field(object: KubeObject, part: 'spec' | 'status', name: string): unknown {
  return (object as KubeObject & Partial<Record<typeof part, Record<string, unknown>>>)[part]?.[name];
}

/** The node that kured's lock names. */
function lockOf(sets: Read): string | undefined {
  if (sets === 'Unread') return undefined;
  for (const { metadata } of sets) {
    const lock = metadata.annotations?.[KURED_LOCK];
    if (lock === undefined) continue;
    try {
      const { nodeID } = JSON.parse(lock) as { nodeID?: unknown };
      if (typeof nodeID === 'string') return nodeID;
    } catch {
      // A lock that cannot be read names nobody.
    }
  }
  return undefined;
}
