import {
  EVICTED,
  type GroupEviction,
  type GroupEvictionSpec,
  groupEvictionType,
} from '../../api/quorate/group-eviction.ts';
import { formatGroup } from '../../decisions/group-eviction/index.ts';
import { ApiError, type Client, type Clock, existing, sleep } from '../../machinery/runtime/index.ts';

export interface GroupEvictionRequest {
  readonly namespace: string;
  readonly spec: GroupEvictionSpec;
  readonly dryRun: boolean;
  /** How long to wait for a cluster's operator to carry out what it has granted. */
  readonly timeoutMs: number;
}

export type GroupOutcome = 'Evicted' | 'WouldEvict' | 'Refused' | 'NoSuchGroup' | 'TimedOut' | 'Failed';

export interface GroupResult {
  readonly outcome: GroupOutcome;
  readonly namespace: string;
  readonly group: string;
  /** The GroupEviction that was made; absent when nothing was. */
  readonly name?: string | undefined;
  readonly pods?: readonly string[] | undefined;
  readonly message?: string | undefined;
  readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] | undefined;
}

const LOOK_EVERY_MS = 100;

/**
 * Asks for a whole group to be evicted. The embedded host carries it out in the answer; on a cluster the answer is the
 * grant, and the operator carries it out and says so in the object's status.
 */
export async function evictGroup(
  { client, clock }: { client: Client; clock: Clock },
  { dryRun, namespace, spec, timeoutMs }: GroupEvictionRequest,
): Promise<GroupResult> {
  const group = formatGroup(spec);
  const base = { namespace, group };
  let made: GroupEviction;
  try {
    made = await client.create(
      groupEvictionType,
      { metadata: { generateName: `${nameFor(spec)}-`, namespace }, spec },
      { dryRun },
    );
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { causes, code } = error;
    // Webhooks' answers come with the webhook's name in front.
    const message = error.message.replace(/^admission webhook "[^"]*" denied the request: /, '');
    if (code === 429) return { ...base, outcome: 'Refused', message, causes };
    if (code === 404 && message.startsWith('Cannot evict group')) return { ...base, outcome: 'NoSuchGroup', message };
    if (code === 404 && error.status.details?.kind === 'namespaces') {
      throw new Error(`there is no namespace "${namespace}"; kubectl get namespaces lists them`, { cause: error });
    }
    if (code === 404) {
      throw new Error(
        'the cluster does not serve GroupEvictions; to install Quorate there: quorate install | kubectl apply -f -',
        {
          cause: error,
        },
      );
    }
    return { ...base, outcome: 'Failed', message, causes };
  }
  if (dryRun) return { ...base, outcome: 'WouldEvict', pods: made.status?.evictedPods };
  return { ...base, ...(await finished(client, clock, made, clock.elapsed() + timeoutMs)) };
}

async function finished(
  client: Client,
  clock: Clock,
  made: GroupEviction,
  deadline: number,
): Promise<Omit<GroupResult, 'namespace' | 'group'>> {
  const { name = '', namespace } = made.metadata;
  for (
    let seen: GroupEviction | undefined = made;
    ;
    seen = await existing(client.get(groupEvictionType, { namespace, name }))
  ) {
    const condition = seen?.status?.conditions?.find(({ type }) => type === EVICTED);
    const pods = seen?.status?.evictedPods;
    if (condition?.status === 'True') return { outcome: 'Evicted', name, pods };
    if (condition?.status === 'False') return { outcome: 'Refused', name, pods, message: condition.message };
    if (seen === undefined) return { outcome: 'Failed', name, message: `GroupEviction ${name} was deleted` };
    if (clock.elapsed() >= deadline) {
      return {
        outcome: 'TimedOut',
        name,
        pods,
        message:
          seen.status?.notice === undefined
            ? `GroupEviction ${name} was granted, but no operator has carried it out yet`
            : `the group is told, and goes at the latest at ${seen.status.notice.deadline} (GroupEviction ${name})`,
      };
    }
    await sleep(clock, LOOK_EVERY_MS);
  }
}

function nameFor({ groupLabel, leaderWorkerSet, podGroupName, podName }: GroupEvictionSpec): string {
  if (leaderWorkerSet !== undefined) return `${leaderWorkerSet.name}-${leaderWorkerSet.groupIndex}`;
  const name = podGroupName ?? podName ?? groupLabel?.value ?? 'group';
  return (
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]/g, '-')
      .replace(/^-+/, '') || 'group'
  );
}
