import { test } from 'node:test';
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { KubeConfig } from '@kubernetes/client-node';
import { apply, expectEvicted, expectRefused, installCrds, podType, startControlPlane } from 'quorate/testkit';
import { reconcile } from '../src/reconcile.mjs';

const CRDS = fileURLToPath(new URL('../crds', import.meta.url));
const chat = { namespace: 'default', name: 'chat' };

/** A control plane with two nodes and a Shard of two groups of three; the operator speaks to it over its port. */
async function withShard(story) {
  const plane = await startControlPlane({ port: 0, controllers: true, nodes: 2 });
  try {
    await installCrds(plane, CRDS);
    await apply(
      plane,
      `
apiVersion: example.com/v1
kind: Shard
metadata: { name: chat }
spec: { groups: 2, size: 3 }
`,
    );
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(plane.kubeconfig);
    await story(plane, kubeConfig);
  } finally {
    await plane.stop();
  }
}

async function running(plane) {
  const { items } = await plane.client.list(podType, { namespace: 'default' });
  return items.filter(({ status }) => status.phase === 'Running').map(({ metadata }) => metadata.name);
}

test('both groups run, and only one of them may be down at a time', () =>
  withShard(async (plane, kubeConfig) => {
    await reconcile(kubeConfig, chat);
    await plane.clock.advance(10_000);
    assert.deepEqual(await running(plane), ['chat-0', 'chat-0-1', 'chat-0-2', 'chat-1', 'chat-1-1', 'chat-1-2']);

    await expectEvicted(plane, 'chat-0');
    await expectEvicted(plane, 'chat-0-1');
    await expectRefused(plane, 'chat-1', 'counts pod groups: 1 of 2 expected healthy, 1 needed');
  }));

test('what the API server refuses once, or answers unheard, is made up for by the next try', () =>
  withShard(async (plane, kubeConfig) => {
    const busy = plane.faults.answer(503, { method: 'PATCH', path: '/leaderworkersets/', times: 1 });
    await assert.rejects(reconcile(kubeConfig, chat));
    assert.equal(busy.met, 1);
    await plane.clock.advance(10_000);
    assert.deepEqual(await running(plane), []);

    plane.faults.loseAnswers({ method: 'PATCH', path: '/leaderworkersets/', times: 1 });
    await assert.rejects(reconcile(kubeConfig, chat));
    await reconcile(kubeConfig, chat);
    await plane.clock.advance(10_000);
    assert.equal((await running(plane)).length, 6);
  }));
