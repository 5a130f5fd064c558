import { expect, test } from 'vitest';
import { podType } from '../../../src/api/resource-types.ts';
import { runComponents } from '../../../src/app/run-components.ts';
import { ApiError, type Client, type Controller, silentLogger } from '../../../src/machinery/runtime/index.ts';
import { createScheduler } from '../../../src/scheduler/index.ts';
import { startControlPlane } from '../../../src/testkit/index.ts';
import { Stage } from './stage.ts';

type Bind = (pod: string, send: () => Promise<unknown>) => Promise<unknown>;

/** A scheduler whose bindings go through `bind`, which may fail them. */
const schedulerWith = (bind: Bind): Controller => ({
  name: 'scheduler',
  start(context) {
    const { client } = context;
    const failing: Client = {
      ...client,
      createSubresource: (type, key, subresource, body) =>
        bind(key.name, () => client.createSubresource(type, key, subresource, body)) as Promise<never>,
    };
    return createScheduler().start({ ...context, client: failing });
  },
});

const unavailable = () => new ApiError(503, { reason: 'ServiceUnavailable', message: 'try again' });

async function withScheduler(scheduler: Controller, play: (stage: Stage) => Promise<void>): Promise<void> {
  const plane = await startControlPlane({ controllers: [scheduler] });
  const stage = new Stage(plane);
  try {
    await stage.addNode('n', 8);
    await stage.settle();
    await play(stage);
  } finally {
    await plane.stop();
  }
}

test('a gang whose bindings fail for a while is bound whole in the end', () => {
  let failures = 0;
  const flaky = schedulerWith((pod, send) => {
    // Every member but the first meets an unreachable server twice.
    if (pod !== 'g-0' && failures < 6) {
      failures += 1;
      return Promise.reject(unavailable());
    }
    return send();
  });
  return withScheduler(flaky, async (stage) => {
    await stage.addGang('g', 4);
    await stage.addMembers('g', 4);
    await stage.settle();
    expect(await stage.bound()).toEqual(['g-0']);
    await stage.pass(30);
    expect(await stage.bound()).toHaveLength(4);
  });
});

test('a binding the server refuses gives the place back and is tried elsewhere later', () => {
  let refused = 0;
  const refusing = schedulerWith((_, send) => {
    if (refused === 0) {
      refused += 1;
      return Promise.reject(new ApiError(422, { reason: 'Invalid', message: 'not this node' }));
    }
    return send();
  });
  return withScheduler(refusing, async (stage) => {
    await stage.addPod('p');
    await stage.settle();
    expect(await stage.bound()).toEqual([]);
    expect((await stage.events('FailedScheduling'))[0]?.message).toBe('binding rejected: not this node');
    await stage.pass(5);
    expect(await stage.bound()).toEqual(['p']);
  });
});

test('what a scheduler left half bound when it died, the next one finishes', () => {
  let bound = 0;
  const dying = schedulerWith((_, send) => {
    bound += 1;
    return bound > 2 ? new Promise(() => {}) : send();
  });
  return withScheduler(dying, async (stage) => {
    await stage.addGang('g', 4);
    await stage.addMembers('g', 4);
    await stage.plane.clock.advance(0);
    expect(await stage.bound()).toHaveLength(2);
    const { clock, transport } = stage.plane;
    const next = runComponents({ transportFor: () => transport, clock, log: silentLogger }, [createScheduler()]);
    try {
      await clock.advance(1000);
      await clock.advance(1000);
      expect(await stage.bound()).toHaveLength(4);
    } finally {
      next.stop();
    }
  });
});

test('members deleted between decision and binding leave no half gang behind', () => {
  const held: (() => void)[] = [];
  const slow = schedulerWith(async (_, send) => {
    await new Promise<void>((resolve) => held.push(resolve));
    return send();
  });
  return withScheduler(slow, async (stage) => {
    await stage.addGang('g', 40);
    await stage.addMembers('g', 40, { cpu: '100m' });
    await stage.plane.clock.advance(0);
    // 32 bindings are on their way; the rest of the gang is asked again before it is bound.
    expect(held).toHaveLength(32);
    await stage.remove(podType, 'g-39');
    await stage.plane.clock.advance(0);
    for (const release of held.splice(0)) release();
    await stage.plane.clock.advance(0);
    expect(await stage.bound()).toHaveLength(32);
    expect(held).toHaveLength(0);
    await stage.addPod('g-39', { group: 'g', cpu: '100m' });
    for (let round = 0; round < 4; round += 1) {
      await stage.plane.clock.advance(1000);
      for (const release of held.splice(0)) release();
    }
    await stage.plane.clock.advance(1000);
    expect(await stage.bound()).toHaveLength(40);
  });
});
