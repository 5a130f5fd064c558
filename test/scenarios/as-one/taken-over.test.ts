/** An operator that dies while it lets a group go: its successor ends that, and the group never stays in part. */
import { afterEach, expect, test } from 'vitest';
import { groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { podType } from '../../../src/api/resource-types.ts';
import type { SettleGroup } from '../../../src/controllers/quorate/group-eviction/deps.ts';
import { evictMembers } from '../../../src/controllers/quorate/group-eviction/evict.ts';
import { createClient, type Transport } from '../../../src/machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';
import { namespace } from '../notice/fixture.ts';
import { addGroup, ask, evictionOf } from '../notice/pods.ts';

const SIZE = 4;
/** The names of all, a mark and a delete of each, and the end. */
const WRITES = 1 + SIZE + SIZE + 1;

let plane: ControlPlane;
afterEach(() => plane.stop());

/** Lets the group go, and dies after so many writes. */
async function letGo(writes: number): Promise<void> {
  let left = writes;
  const send: Transport = (request) => {
    if (request.method !== 'GET' && left-- <= 0) return Promise.reject(new Error('the process is dead'));
    return plane.transport(request);
  };
  const client = createClient({ transport: send, userAgent: 'operator' });
  const settle: SettleGroup = async () => {
    const members = (await pods()).filter(({ going }) => !going);
    return members.length === 0
      ? { granted: false, reason: 'NoMembers', message: 'no member is left' }
      : { granted: true, members };
  };
  const events = { record: () => {} } as unknown as Parameters<typeof evictMembers>[0]['events'];
  await evictMembers({ client, clock: plane.clock, events }, settle, await evictionOf(plane)).catch(
    (error: unknown) => {
      if (writes === Number.POSITIVE_INFINITY) throw error;
    },
  );
}

async function pods() {
  const { items } = await plane.client.list(podType, { namespace });
  return items.map(({ metadata, status }) => ({
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    going: metadata.deletionTimestamp !== undefined,
    marked: status?.conditions?.some(({ reason, type }) => type === 'DisruptionTarget' && reason === 'GroupEviction'),
  }));
}

test.each(Array.from({ length: WRITES }, (_, at) => at))(
  'DM-08: killed after %i writes: none is deleted before all are marked, and the successor takes them all, once',
  async (writes) => {
    plane = await startControlPlane({ controllers: [] });
    // Its notice runs, so that the API server does not let it go by itself.
    await addGroup(plane, { duration: '1h' }, SIZE);
    await ask(plane);
    const before = (await pods()).map(({ uid }) => uid);
    await letGo(writes);
    const then = await pods();
    if (then.some(({ going }) => going)) expect(then.every(({ marked }) => marked)).toBe(true);
    await letGo(Number.POSITIVE_INFINITY);
    const after = await pods();
    expect(after.map(({ going, marked }) => [going, marked])).toEqual(before.map(() => [true, true]));
    expect(after.map(({ uid }) => uid)).toEqual(before);
    const { status } = await plane.client.get(groupEvictionType, { namespace, name: 'ask' });
    expect(status?.evictedPodUIDs).toEqual([...before].sort());
  },
);
