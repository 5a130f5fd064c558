/** A control plane on a clock moved by hand, with a gang under a policy that wants it to be told. */
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import { disruptionPolicyType, type NoticeTerms } from '../../../src/api/quorate/disruption-policy.ts';
import {
  type GroupEviction,
  type GroupEvictionSpec,
  groupEvictionType,
} from '../../../src/api/quorate/group-eviction.ts';
import { podType } from '../../../src/api/resource-types.ts';
import { ApiError } from '../../../src/machinery/runtime/index.ts';
import { World } from '../maintenance/fixture.ts';

export const namespace = 'default';
export const ACKNOWLEDGED = 'policy.quorate.dev/notice-acknowledged';
export const NOTICE = 'policy.quorate.dev/notice';

export class Told {
  readonly world: World;

  private constructor(world: World) {
    this.world = world;
  }

  /** Gangs `g0`, `g1`, ... and a policy over all of them. */
  static async start(
    notice: NoticeTerms | undefined,
    {
      allowed,
      gangs = 1,
      nodes = 4,
      size = 4,
    }: { size?: number; gangs?: number; nodes?: number; allowed?: number } = {},
  ): Promise<Told> {
    const world = await World.start({ nodes });
    await world.gangs(gangs, { size, ...(allowed !== undefined && { allowed }) });
    const told = new Told(world);
    if (notice !== undefined) await told.policy('told', notice);
    return told;
  }

  async policy(name: string, notice: NoticeTerms): Promise<void> {
    await this.client.create(disruptionPolicyType, { metadata: { name, namespace }, spec: { selector: {}, notice } });
    await this.world.pass(1);
  }

  get client(): World['client'] {
    return this.world.client;
  }

  ask(name = 'ask', spec: GroupEvictionSpec = { podGroupName: 'g0' }): Promise<GroupEviction> {
    return this.client.create(groupEvictionType, { metadata: { name, namespace }, spec });
  }

  get(name = 'ask'): Promise<GroupEviction> {
    return this.client.get(groupEvictionType, { namespace, name });
  }

  async withdraw(name = 'ask'): Promise<void> {
    const body = { spec: { intent: 'Withdrawn' } };
    await this.client.patch(groupEvictionType, { namespace, name }, { type: 'merge', body });
  }

  async members(gang = 'g0'): Promise<Pod[]> {
    const { items } = await this.client.list(podType, { namespace });
    const own = items.filter(({ metadata }) => metadata.name?.startsWith(`${gang}-`) === true);
    return own.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  }

  /** Members that nobody has told to go. */
  async staying(gang = 'g0'): Promise<Pod[]> {
    return (await this.members(gang)).filter(({ metadata }) => !metadata.deletionTimestamp);
  }

  async acknowledge(pod: Pod | undefined, id?: string): Promise<void> {
    const { annotations = {}, name = '' } = pod?.metadata ?? {};
    const told = JSON.parse(annotations[NOTICE] ?? '{}') as { id?: string };
    const body = { metadata: { annotations: { [ACKNOWLEDGED]: id ?? told.id ?? '' } } };
    await this.client.patch(podType, { namespace, name }, { type: 'merge', body });
  }

  async acknowledgeAll(gang = 'g0'): Promise<void> {
    for (const pod of await this.members(gang)) await this.acknowledge(pod);
  }

  /** What a plain eviction is answered. */
  async evict(pod: Pod | undefined, dryRun = false): Promise<{ code: number; message: string; causes: string[] }> {
    const name = pod?.metadata.name ?? '';
    const deleteOptions = dryRun ? { dryRun: ['All'] } : {};
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions };
    try {
      await this.client.createSubresource(podType, { namespace, name }, 'eviction', body);
      return { code: 201, message: '', causes: [] };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { code: error.code, message: error.message, causes: error.causes.map(({ reason }) => reason ?? '') };
    }
  }
}

/** How a GroupEviction stands, as `State/Evicted reason`. */
export function standOf({ status }: GroupEviction): string {
  const evicted = status?.conditions?.find(({ type }) => type === 'Evicted');
  return `${status?.notice?.state ?? '-'}/${evicted === undefined ? '-' : `${evicted.status} ${evicted.reason}`}`;
}
