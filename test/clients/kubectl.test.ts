import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { startHost } from './host.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

let host: EmbeddedHost;
let kubectl: Kubectl;

beforeAll(async () => {
  host = await startHost();
  kubectl = createKubectl(host.kubeconfig);
  await kubectl.run(['wait', '--for=condition=Ready', 'node', '--all', '--timeout=120s']);
}, 300_000);

afterAll(async () => {
  kubectl?.close();
  await host?.stop();
});

const json = async (...args: string[]): Promise<Record<string, never> & { [field: string]: never }> =>
  JSON.parse(await kubectl.out(...args, '-o', 'json')) as never;

/** Each test has a namespace of its own. */
async function inNamespace(name: string): Promise<string[]> {
  await kubectl.run(['create', 'namespace', name]);
  return ['-n', name];
}

const configMap = (name: string, data: Record<string, string>, extra = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${extra}data:\n${Object.entries(data)
    .map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`)
    .join('')}`;

test('version and api-resources show a 1.36 server with its groups', async () => {
  const version = JSON.parse(await kubectl.out('version', '-o', 'json')) as { serverVersion: Record<string, string> };
  expect(version.serverVersion).toMatchObject({ major: '1', minor: '36', gitVersion: 'v1.36.4+quorate' });
  const names = (await kubectl.out('api-resources', '-o', 'name')).split('\n');
  expect(names).toEqual(
    expect.arrayContaining(['pods', 'deployments.apps', 'poddisruptionbudgets.policy', 'workloads.scheduling.k8s.io']),
  );
  const apps = await kubectl.out('api-resources', '--api-group=apps', '--no-headers');
  expect(apps.split('\n').map((line) => line.split(/\s+/).slice(0, 3).join(' '))).toContain(
    'deployments deploy apps/v1',
  );
});

test('get shows the columns of nodes, plain and wide', async () => {
  const plain = (await kubectl.out('get', 'nodes')).split('\n');
  expect(plain[0]?.split(/\s+/)).toEqual(['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION']);
  expect(plain[1]?.split(/\s+/).slice(0, 3)).toEqual(['node-0', 'Ready', '<none>']);
  const wide = (await kubectl.out('get', 'nodes', '-o', 'wide')).split('\n');
  expect(wide[0]).toMatch(/VERSION\s+INTERNAL-IP\s+EXTERNAL-IP\s+OS-IMAGE\s+KERNEL-VERSION\s+CONTAINER-RUNTIME/);
});

test('a deployment is created, scaled, updated, rolled back and restarted', async () => {
  const ns = await inNamespace('rollouts');
  await kubectl.run(['create', 'deployment', 'web', '--image=nginx:1', '--replicas=2', ...ns]);
  expect(await kubectl.out('rollout', 'status', 'deploy/web', '--timeout=120s', ...ns)).toContain(
    'successfully rolled out',
  );
  expect(await kubectl.out('scale', 'deploy/web', '--replicas=3', ...ns)).toBe('deployment.apps/web scaled');
  await kubectl.run(['rollout', 'status', 'deploy/web', '--timeout=120s', ...ns]);
  expect(
    await kubectl.out('get', 'deploy', 'web', '-o', 'jsonpath={.status.readyReplicas}/{.spec.replicas}', ...ns),
  ).toBe('3/3');
  await kubectl.run(['set', 'image', 'deploy/web', 'nginx=nginx:2', ...ns]);
  await kubectl.run(['rollout', 'status', 'deploy/web', '--timeout=120s', ...ns]);
  const image = () =>
    kubectl.out('get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}', ...ns);
  expect(await image()).toBe('nginx:2');
  const history = await kubectl.out('rollout', 'history', 'deploy/web', ...ns);
  expect(
    history
      .split('\n')
      .slice(2)
      .map((line) => line.split(/\s+/)[0]),
  ).toEqual(['1', '2']);
  expect(await kubectl.out('rollout', 'undo', 'deploy/web', ...ns)).toBe('deployment.apps/web rolled back');
  expect(await image()).toBe('nginx:1');
  await kubectl.run(['rollout', 'restart', 'deploy/web', ...ns]);
  const at = 'jsonpath={.spec.template.metadata.annotations.kubectl\\.kubernetes\\.io/restartedAt}';
  expect(await kubectl.out('get', 'deploy', 'web', '-o', at, ...ns)).toMatch(/^\d{4}-/);
  await kubectl.run(['rollout', 'status', 'deploy/web', '--timeout=120s', ...ns]);
  const [header, row] = (await kubectl.out('get', 'deploy', ...ns)).split('\n');
  expect(header?.split(/\s{2,}/)).toEqual(['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'AGE']);
  expect(row?.split(/\s+/).slice(0, 4)).toEqual(['web', '3/3', '3', '3']);
}, 300_000);

test('pods show where they run, and describe tells their story', async () => {
  const ns = await inNamespace('stories');
  await kubectl.run(['run', 'solo', '--image=nginx:1', '--labels=tier=front', ...ns]);
  await kubectl.run(['wait', '--for=condition=Ready', 'pod/solo', '--timeout=120s', ...ns]);
  const [header, row] = (await kubectl.out('get', 'pod', '-o', 'wide', '--show-labels', ...ns)).split('\n');
  expect(header?.split(/\s{2,}/)).toEqual([
    'NAME',
    'READY',
    'STATUS',
    'RESTARTS',
    'AGE',
    'IP',
    'NODE',
    'NOMINATED NODE',
    'READINESS GATES',
    'LABELS',
  ]);
  expect(row).toMatch(/^solo\s+1\/1\s+Running\s+0\s+\S+\s+10\.\S+\s+node-\d\s+<none>\s+<none>\s+tier=front$/);
  const story = await kubectl.out('describe', 'pod', 'solo', ...ns);
  expect(story).toMatch(/Status:\s+Running/);
  expect(story).toMatch(
    /Normal\s+Scheduled\s+\S+\s+default-scheduler\s+Successfully assigned stories\/solo to node-\d/,
  );
  expect(await kubectl.out('events', ...ns)).toContain('Successfully assigned stories/solo');
  expect(await kubectl.out('get', 'pods', '-l', 'tier=front', '-o', 'name', ...ns)).toBe('pod/solo');
  expect(await kubectl.out('get', 'pods', '-l', 'tier!=front', '-o', 'name', ...ns)).toBe('');
  expect(await kubectl.out('get', 'pods', '--field-selector=status.phase=Running', '-o', 'name', ...ns)).toBe(
    'pod/solo',
  );
}, 300_000);

test('label, annotate and the three kinds of patch change what they name', async () => {
  const ns = await inNamespace('patches');
  await kubectl.run(['create', 'configmap', 'c', '--from-literal=a=1', '--from-literal=b=2', ...ns]);
  await kubectl.run(['label', 'configmap', 'c', 'x=1', ...ns]);
  await kubectl.run(['annotate', 'configmap', 'c', 'note=hello', ...ns]);
  await kubectl.run(['patch', 'configmap', 'c', '--type=merge', '-p', '{"data":{"a":null,"c":"3"}}', ...ns]);
  await kubectl.run([
    'patch',
    'configmap',
    'c',
    '--type=json',
    '-p',
    '[{"op":"replace","path":"/data/b","value":"two"}]',
    ...ns,
  ]);
  await kubectl.run(['label', 'configmap', 'c', 'x-', ...ns]);
  const { metadata, data } = await json('get', 'configmap', 'c', ...ns);
  expect(data).toEqual({ b: 'two', c: '3' });
  expect(metadata).toMatchObject({ annotations: { note: 'hello' } });
  expect(metadata).not.toHaveProperty('labels');
  await kubectl.run(['create', 'deployment', 'd', '--image=a:1', '--replicas=0', ...ns]);
  const sidecar = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"b:1"}]}}}}';
  await kubectl.run(['patch', 'deploy', 'd', '-p', sidecar, ...ns]);
  const images = 'jsonpath={.spec.template.spec.containers[*].image}';
  expect(await kubectl.out('get', 'deploy', 'd', '-o', images, ...ns)).toBe('b:1 a:1');
});

test('client-side apply creates, changes and removes what left the file', async () => {
  const ns = await inNamespace('applies');
  const apply = (text: string) => kubectl.run(['apply', '-f', '-', ...ns], { stdin: text });
  expect((await apply(configMap('c', { a: '1', b: '2' }))).stdout).toBe('configmap/c created\n');
  expect((await apply(configMap('c', { a: '1', b: '2' }))).stdout).toBe('configmap/c unchanged\n');
  await kubectl.run(['patch', 'configmap', 'c', '--type=merge', '-p', '{"data":{"other":"kept"}}', ...ns]);
  expect((await apply(configMap('c', { a: 'one' }))).stdout).toBe('configmap/c configured\n');
  expect((await json('get', 'configmap', 'c', ...ns))['data']).toEqual({ a: 'one', other: 'kept' });
});

test('server-side apply owns fields and reports conflicts', async () => {
  const ns = await inNamespace('owners');
  const apply = (manager: string, value: string, extra: string[] = [], fails = false) =>
    kubectl.run(['apply', '--server-side', `--field-manager=${manager}`, '-f', '-', ...extra, ...ns], {
      stdin: configMap('c', { a: value }),
      fails,
    });
  expect((await apply('one', '1')).stdout).toBe('configmap/c serverside-applied\n');
  const refused = await apply('two', '2', [], true);
  expect(refused.stderr).toContain('conflict with "one": .data.a');
  await apply('two', '2', ['--force-conflicts']);
  const shown = await json('get', 'configmap', 'c', '--show-managed-fields', ...ns);
  const { managedFields } = shown['metadata'] as unknown as { managedFields: { manager: string; operation: string }[] };
  expect(managedFields.map(({ manager, operation }) => `${manager} ${operation}`)).toEqual(['two Apply']);
  expect(shown['data']).toEqual({ a: '2' });
});

test('diff and a server-side dry run show a change without making it', async () => {
  const ns = await inNamespace('dry');
  await kubectl.run(['apply', '-f', '-', ...ns], { stdin: configMap('c', { a: '1' }) });
  const diff = await kubectl.run(['diff', '-f', '-', ...ns], { stdin: configMap('c', { a: '2' }), fails: true });
  expect(diff.code).toBe(1);
  expect(diff.stdout).toMatch(/^-\s+a: "1"$/m);
  expect(diff.stdout).toMatch(/^\+\s+a: "2"$/m);
  const dry = await kubectl.run(['apply', '--dry-run=server', '-f', '-', ...ns], { stdin: configMap('c', { a: '2' }) });
  expect(dry.stdout).toBe('configmap/c configured (server dry run)\n');
  await kubectl.run(['delete', 'configmap', 'c', '--dry-run=server', ...ns]);
  expect((await json('get', 'configmap', 'c', ...ns))['data']).toEqual({ a: '1' });
});

test('replace and create refuse what is wrong and say where', async () => {
  const ns = await inNamespace('replaces');
  await kubectl.run(['create', '-f', '-', ...ns], { stdin: configMap('c', { a: '1' }) });
  const twice = await kubectl.run(['create', '-f', '-', ...ns], { stdin: configMap('c', { a: '1' }), fails: true });
  expect(twice.stderr).toContain('(AlreadyExists)');
  expect(twice.stderr).toContain('configmaps "c" already exists');
  await kubectl.run(['replace', '-f', '-', ...ns], { stdin: configMap('c', { z: '9' }) });
  expect((await json('get', 'configmap', 'c', ...ns))['data']).toEqual({ z: '9' });
  const unknown = await kubectl.run(['create', '-f', '-', ...ns], {
    stdin: `${configMap('d', { a: '1' })}bogus: true\n`,
    fails: true,
  });
  expect(unknown.stderr).toContain('unknown field "bogus"');
  const invalid = await kubectl.run(['create', '-f', '-', ...ns], {
    stdin: configMap('Not_A_Name', { a: '1' }),
    fails: true,
  });
  expect(invalid.stderr).toContain('metadata.name: Invalid value: "Not_A_Name"');
});

test('edit sends what the editor changed', async () => {
  const ns = await inNamespace('edits');
  await kubectl.run(['create', 'configmap', 'c', '--from-literal=a=before', ...ns]);
  await kubectl.run(['edit', 'configmap', 'c', ...ns], { env: { KUBE_EDITOR: 'sed -i s/before/after/' } });
  expect((await json('get', 'configmap', 'c', ...ns))['data']).toEqual({ a: 'after' });
});

test('explain reads the schema', async () => {
  const pod = await kubectl.out('explain', 'pod.spec.containers');
  expect(pod).toMatch(/KIND:\s+Pod/);
  expect(pod).toMatch(/FIELD: containers <\[\]Container>/);
  expect(pod).toMatch(/imagePullPolicy\s+<string>/);
});

test('get -w prints each change as a row', async () => {
  const ns = await inNamespace('watching');
  await kubectl.run(['create', 'configmap', 'c', '--from-literal=a=1', ...ns]);
  let changed = false;
  const rows = await kubectl.until(['get', 'configmap', 'c', '-w', ...ns], (stdout) => {
    if (!changed && stdout.includes('c ')) {
      changed = true;
      void kubectl.run(['patch', 'configmap', 'c', '--type=merge', '-p', '{"data":{"b":"2"}}', ...ns]);
    }
    // The last line counts once it ended: what is read may stop in the middle of one.
    return stdout.split('\n').length > 3;
  });
  expect(
    rows
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/).slice(0, 2).join(' ')),
  ).toEqual(['NAME DATA', 'c 1', 'c 2']);
});

test('cordon, taint and drain change nodes and move pods', async () => {
  const ns = await inNamespace('drains');
  await kubectl.run(['create', 'deployment', 'web', '--image=nginx:1', '--replicas=2', ...ns]);
  await kubectl.run(['rollout', 'status', 'deploy/web', '--timeout=120s', ...ns]);
  await kubectl.run(['taint', 'node', 'node-1', 'k=v:PreferNoSchedule']);
  expect(await kubectl.out('get', 'node', 'node-1', '-o', 'jsonpath={.spec.taints[?(@.key=="k")].effect}')).toBe(
    'PreferNoSchedule',
  );
  await kubectl.run(['taint', 'node', 'node-1', 'k-']);
  const drained = await kubectl.out(
    'drain',
    'node-0',
    '--ignore-daemonsets',
    '--timeout=120s',
    '--force',
    '--grace-period=1',
  );
  expect(drained).toContain('node/node-0 drained');
  expect(await kubectl.out('get', 'nodes', 'node-0', '--no-headers')).toContain('Ready,SchedulingDisabled');
  expect(await kubectl.out('get', 'pods', '-A', '--field-selector=spec.nodeName=node-0', '-o', 'name')).toBe('');
  await kubectl.run(['uncordon', 'node-0']);
  expect(await kubectl.out('get', 'nodes', 'node-0', '--no-headers')).not.toContain('SchedulingDisabled');
}, 300_000);

test('a namespace takes everything in it with it', async () => {
  const ns = await inNamespace('gone');
  await kubectl.run(['create', 'configmap', 'c', ...ns]);
  await kubectl.run(['create', 'deployment', 'web', '--image=nginx:1', ...ns]);
  expect(await kubectl.out('delete', 'namespace', 'gone', '--timeout=120s')).toContain('namespace "gone" deleted');
  const missing = await kubectl.run(['get', 'namespace', 'gone'], { fails: true });
  expect(missing.stderr).toContain('Error from server (NotFound): namespaces "gone" not found');
}, 300_000);

test('auth can-i and whoami answer for the administrator', async () => {
  expect(await kubectl.out('auth', 'can-i', 'delete', 'nodes')).toContain('yes');
  expect(await kubectl.out('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.groups}')).toContain('system:masters');
  const denied = await kubectl.run(['auth', 'can-i', 'create', 'pods', '--as=someone'], { fails: true });
  expect(denied.stdout.trim()).toBe('no');
});

test('delete waits until a pod is gone, and -o yaml is what -o json is', async () => {
  const ns = await inNamespace('deletes');
  await kubectl.run(['run', 'p', '--image=nginx:1', ...ns]);
  await kubectl.run(['wait', '--for=condition=Ready', 'pod/p', '--timeout=120s', ...ns]);
  const { parse } = await import('yaml');
  expect(parse(await kubectl.out('get', 'pod', 'p', '-o', 'yaml', ...ns))).toEqual(
    await json('get', 'pod', 'p', ...ns),
  );
  expect(await kubectl.out('delete', 'pod', 'p', '--now', ...ns)).toContain('pod "p" deleted');
  const missing = await kubectl.run(['get', 'pod', 'p', ...ns], { fails: true });
  expect(missing.stderr).toContain('pods "p" not found');
}, 300_000);

test('top shows what pods and nodes are said to use', async () => {
  const ns = await inNamespace('usage');
  const pod = (name: string) =>
    `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n  annotations:\n    nodes.quorate.dev/cpu: 250m\n    nodes.quorate.dev/memory: 64Mi\nspec:\n  nodeName: node-0\n  containers: [{ name: main, image: web:1 }]\n`;
  await kubectl.run(['apply', '-f', '-', ...ns], { stdin: `${pod('a')}---\n${pod('b')}` });
  await kubectl.run(['wait', '--for=condition=Ready', 'pod', '--all', '--timeout=120s', ...ns]);
  const rows = (table: string): string[][] => table.split('\n').map((line) => line.trim().split(/\s+/));
  expect(rows(await kubectl.out('top', 'pods', '--no-headers', ...ns))).toEqual([
    ['a', '250m', '64Mi'],
    ['b', '250m', '64Mi'],
  ]);
  const nodes = rows(await kubectl.out('top', 'nodes'));
  expect(nodes[0]).toEqual(['NAME', 'CPU(cores)', 'CPU(%)', 'MEMORY(bytes)', 'MEMORY(%)']);
  expect(nodes.find(([name]) => name === 'node-0')).toMatchObject(
    ['node-0', '500m', /%$/, '128Mi', /%$/].map((want) =>
      typeof want === 'string' ? want : expect.stringMatching(want),
    ),
  );
});
