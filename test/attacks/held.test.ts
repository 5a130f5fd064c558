/** What was tried against the server and held: it must go on holding (issue 17). Figures are those of the tables. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { escalations, held } from './held/escalations.ts';
import { impersonations } from './held/impersonations.ts';
import { paths } from './held/paths.ts';
import { pollutions } from './held/pollution.ts';
import { forgeries } from './held/tokens.ts';
import { type Reply, startTarget, type Target } from './target.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const roleRef = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name });

let target: Target;
let mallory: { token: string };

beforeAll(async () => {
  target = await startTarget('--ephemeral');
  mallory = { token: await target.tokenOf('team', 'mallory') };
  await target.make(`${RBAC}/clusterroles`, { metadata: { name: 'mallory' }, rules: held });
  const subjects = [{ kind: 'ServiceAccount', name: 'mallory', namespace: 'team' }];
  const binding = { metadata: { name: 'mallory' }, roleRef: roleRef('mallory'), subjects };
  await target.make(`${RBAC}/clusterrolebindings`, binding);
});
afterAll(() => target.server.stop());

const refused = ({ status }: Reply): boolean => status >= 400 && status < 500;

/** What she may do, by the server's own word. */
async function rightsOf(as: { token: string }): Promise<unknown> {
  const { object } = await target.ask({
    as,
    path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    body: { spec: { namespace: 'team' } },
  });
  return object['status'];
}

describe('tokens that were never issued', () => {
  test('are refused, over HTTP/1.1 and HTTP/2', async () => {
    const good = await target.tokenOf('team', 'mallory');
    const path = '/api/v1/namespaces/team/pods';
    expect((await target.ask({ as: { token: good }, path })).status).toBe(200);
    for (const { headers, name } of await forgeries(target, good)) {
      for (const http of [1, 2] as const) {
        const { status } = await target.ask({ as: 'nobody', path, headers, http });
        expect([401, 403], `${name}, HTTP/${http}`).toContain(status);
      }
    }
  });
});

describe(`${escalations.length} ways to more rights by writing roles`, () => {
  test.each(escalations)('$name', async (escalation) => {
    const before = await rightsOf(mallory);
    const reply = await target.ask({ as: mallory, ...escalation });
    expect(refused(reply), `${reply.status} ${reply.body}`).toBe(true);
    expect(await rightsOf(mallory)).toEqual(before);
  });
});

describe(`${impersonations.length} ways to be somebody else`, () => {
  test.each(impersonations)('$name', async ({ headers }) => {
    const carol = { token: await target.tokenOf('team', 'carol') };
    const rules = [{ apiGroups: [''], resources: ['users'], resourceNames: ['alice'], verbs: ['impersonate'] }];
    await target.ask({
      as: 'administrator',
      path: `${RBAC}/clusterroles`,
      body: { metadata: { name: 'carol' }, rules },
    });
    const subjects = [{ kind: 'ServiceAccount', name: 'carol', namespace: 'team' }];
    const binding = { metadata: { name: 'carol' }, roleRef: roleRef('carol'), subjects };
    await target.ask({ as: 'administrator', path: `${RBAC}/clusterrolebindings`, body: binding });
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const alice = await target.ask({ as: carol, path, body: {}, headers: { 'impersonate-user': 'alice' } });
    expect(alice.status).toBe(201);
    const reply = await target.ask({ as: carol, path, body: {}, headers });
    expect(reply.status, reply.body).toBeGreaterThanOrEqual(400);
  });
});

describe('paths', () => {
  test('no spelling shows a secret of another namespace', async () => {
    const data = { value: 'c2VjcmV0LW9mLWt1YmUtc3lzdGVt' };
    await target.make('/api/v1/namespaces/kube-system/secrets', { metadata: { name: 'crown-jewel' }, data });
    for (const path of paths) {
      const reply = await target.ask({ as: mallory, path });
      expect(reply.body, path).not.toContain('crown-jewel');
      expect([301, 400, 403, 404], `${path}: ${reply.body}`).toContain(reply.status);
    }
  });

  test('a continue token of one list is no key to another', async () => {
    for (const name of ['one', 'two']) {
      await target.make('/api/v1/namespaces/kube-system/configmaps', { metadata: { name } });
    }
    const { object } = await target.ask({
      as: 'administrator',
      path: '/api/v1/namespaces/kube-system/configmaps?limit=1',
    });
    const token = (object['metadata'] as { continue: string }).continue;
    const forged = [
      token,
      `${token}x`,
      Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"../kube-system/secrets/a"}').toString('base64'),
      Buffer.from('{"v":"meta.k8s.io/v1","rv":-1,"start":"\\u0000"}').toString('base64'),
      '../../secrets',
      '%00',
      'A'.repeat(7000),
    ];
    for (const text of forged) {
      const path = `/api/v1/namespaces/team/pods?limit=1&continue=${encodeURIComponent(text)}`;
      const reply = await target.ask({ as: mallory, path });
      expect(reply.body).not.toContain('kube-system/configmaps');
      expect([200, 400, 410], `${reply.status} ${reply.body}`).toContain(reply.status);
      const items = reply.status === 200 ? (reply.object['items'] as unknown[]) : [];
      expect(items).toEqual([]);
    }
  });
});

describe('prototypes', () => {
  test('no body writes to them', async () => {
    const collection = '/api/v1/namespaces/team/configmaps';
    await target.make(collection, { metadata: { name: 'victim' } });
    for (const { name, method, headers, body } of pollutions) {
      const query = headers['content-type'] === 'application/apply-patch+yaml' ? '?fieldManager=a' : '';
      const path = method === 'POST' ? collection : `${collection}/victim${query}`;
      const reply = await target.ask({ as: 'administrator', path, method, headers, body });
      expect(reply.status, `${name}: ${reply.body}`).toBeLessThan(500);
    }
    const made = await target.make(collection, { metadata: { name: 'clean' } });
    expect(JSON.stringify(made)).not.toContain('polluted');
    const { body } = await target.ask({ as: 'administrator', path: '/version' });
    expect(body).not.toContain('polluted');
  });
});

describe('budgets under 64 hostile clients', () => {
  test('never give more than they have', async () => {
    const budget = { metadata: { name: 'few' }, spec: { minAvailable: 5, selector: { matchLabels: { app: 'few' } } } };
    await target.make('/apis/policy/v1/namespaces/team/poddisruptionbudgets', budget);
    const pods = Array.from({ length: 8 }, (_, at) => `few-${at}`);
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    for (const name of pods) {
      const spec = {
        containers: [{ name: 'main', image: 'a' }],
        nodeName: 'node-x',
        terminationGracePeriodSeconds: 600,
      };
      await target.make('/api/v1/namespaces/team/pods', { metadata: { name, labels: { app: 'few' } }, spec });
      await target.ask({
        as: 'administrator',
        method: 'PATCH',
        path: `/api/v1/namespaces/team/pods/${name}/status`,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { status: ready },
      });
    }
    const status = async (): Promise<Record<string, unknown>> =>
      (await target.ask({ as: 'administrator', path: '/apis/policy/v1/namespaces/team/poddisruptionbudgets/few' }))
        .object['status'] as Record<string, unknown>;
    await expect.poll(async () => (await status())?.['disruptionsAllowed'], { timeout: 60_000 }).toBe(3);
    const answers = await evictTogether(pods, 64);
    const codes = new Set(answers);
    expect(
      [...codes].every((code) => code === 201 || code === 429),
      [...codes].join(' '),
    ).toBe(true);
    const { object } = await target.ask({
      as: 'administrator',
      path: '/api/v1/namespaces/team/pods?labelSelector=app%3Dfew',
    });
    const left = (object['items'] as { metadata: { deletionTimestamp?: string } }[]).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    expect(left).toHaveLength(5);
  });
});

/** Each client evicts every pod, over a connection of its own. */
function evictTogether(pods: readonly string[], clients: number): Promise<number[]> {
  const client = async (at: number): Promise<number[]> => {
    const codes: number[] = [];
    for (const [turn] of pods.entries()) {
      const name = pods[(turn + at) % pods.length] ?? '';
      const path = `/api/v1/namespaces/team/pods/${name}/eviction`;
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'team' } };
      codes.push((await target.ask({ as: 'administrator', path, body })).status);
    }
    return codes;
  };
  return Promise.all(Array.from({ length: clients }, (_, at) => client(at))).then((all) => all.flat());
}

test('the server lives, and complains of nothing', () => {
  expect(target.server.ended()).toBeUndefined();
  expect(target.server.output()).not.toMatch(/unhandled|uncaught|TypeError|RangeError/i);
});
