/** `quorate doctor` on a real cluster, through an installation that is incomplete, whole, and broken in several ways. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { type DoctorReport } from '../../src/tasks/index.ts';
import { createAuthority } from '../../src/machinery/runtime/certificates.ts';
import { silentLogger } from '../../src/machinery/runtime/index.ts';
import { defaultInstall, installObjects } from '../../src/webhook/index.ts';
import { chosenMinor } from '../kubernetes/binaries.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';
import { type Ended, runProgram } from './program.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
let operator: Operator | undefined;
const minor = chosenMinor();

beforeAll(async () => {
  plane = await startRealControlPlane({ minor, components: ['kube-controller-manager'] });
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 1 } });
});
afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

const run = (...args: string[]): Promise<Ended> => runProgram('doctor', '--kubeconfig', plane.kubeconfig, ...args);

async function examine(): Promise<{ code: number | null; of: (check: string) => string[] }> {
  const { code, stdout } = await run('-o', 'json');
  const { findings } = JSON.parse(stdout) as DoctorReport;
  return {
    code,
    of: (check) => findings.filter((one) => one.check === check).map(({ status, what }) => `${status}: ${what}`),
  };
}

test('doctor on a cluster without Quorate says what is missing, and fails', async () => {
  const { code, of } = await examine();
  expect(code).toBe(3);
  expect(of('version')).toEqual([expect.stringContaining(`ok: Kubernetes v${minor}`)]);
  expect(of('groups')).toEqual([expect.stringContaining('warn: the cluster does not serve Workload and PodGroup')]);
  expect(of('definitions')).toEqual([
    'fail: podunavailablebudgets.policy.kruise.io is not installed',
    'fail: disruptionledgers.policy.quorate.dev is not installed',
    'fail: downscalepodpickers.policy.quorate.dev is not installed',
    'fail: groupevictions.policy.quorate.dev is not installed',
    'fail: maintenances.policy.quorate.dev is not installed',
    'fail: disruptionpolicies.policy.quorate.dev is not installed',
    'fail: disruptionhistories.policy.quorate.dev is not installed',
  ]);
  expect(of('webhooks')).toEqual(['fail: the API server does not ask Quorate about anything']);
  expect(of('leader')).toEqual(['fail: no operator has ever led in namespace "quorate-system"']);
  expect(of('clocks')).toEqual(['ok: this machine and the API server agree on the time']);
});

test('doctor on a whole installation finds nothing to fail', async () => {
  await stage.apply(plane, ...installObjects({ ...defaultInstall, mode: 'alongside' }));
  await stage.prepareCluster(plane);
  operator = await stage.startReplica(plane, 'first', 'alongside');
  await stage.registerWebhooks(plane, operator, undefined, 'alongside', { groupCreation: true });
  await stage.until('the replica to lead', () => operator?.isLeading() === true);
  await stage.until('the built-in controller to count', async () => {
    const path = 'jsonpath={.status.observedGeneration}';
    const text = await stage.kubectl(plane, 'get', 'pdb', 'quorate', '-n', stage.NAMESPACE, '-o', path);
    return text === '1';
  });
  const { of } = await examine();
  expect(of('definitions').every((one) => one.startsWith('ok'))).toBe(true);
  expect(of('permissions')).toEqual(['ok: the operator may do all it needs']);
  expect(of('other installations')).toEqual(['ok: nobody else keeps PodUnavailableBudgets here']);
  expect(of('leader')).toEqual([expect.stringContaining('ok: "first" leads')]);
  expect(of('mode')).toEqual(["ok: alongside Kubernetes' own disruption controller, which is running"]);
  expect(of('webhooks')).toEqual(['ok: 10 are registered; what cannot be asked about is refused']);
  expect(of('webhook reachability')).toEqual([expect.stringContaining('ok: the API server reaches a replica')]);
  expect(of('certificate authority')).toEqual(['ok: the caBundle vouches for the certificate in use']);
  expect(of('certificate age')).toEqual(['ok: the serving certificate is good for 89 more days']);
  expect(of('clocks')).toEqual([
    'ok: this machine and the API server agree on the time',
    'ok: the leading operator and the API server agree on the time',
  ]);
});

test('doctor tells in words what is wrong and how to mend it', async () => {
  const { stdout } = await run();
  // The image of the installation cannot be had here, so no pod of it gets ready.
  expect(stdout).toMatch(/FAIL replicas +none of 2 replicas is ready\n +to mend: kubectl logs/);
  expect(stdout).toMatch(/\d+ ok, \d+ to look at, 1 failed, 0 cannot be told, \d+ not checked\n$/);
});

test('HL-06: doctor without rights says that it cannot tell, fails nothing, and exits with 6', async () => {
  const { code, stdout } = await run('--as', 'nobody');
  expect(code).toBe(6);
  for (const check of ['definitions', 'leader', 'mode', 'webhooks', 'budgets']) {
    expect(stdout).toMatch(new RegExp(`^\\?    ${check} +cannot tell: `, 'm'));
  }
  expect(stdout).toContain(' 0 failed');
});

test('HL-06: doctor sees what was changed by hand: a timeout, a mode, a budget that nobody counts', async () => {
  const patch = (what: string, ...args: string[]): Promise<string> => stage.kubectl(plane, 'patch', what, ...args);
  const slow = JSON.stringify([{ op: 'replace', path: '/webhooks/0/timeoutSeconds', value: 29 }]);
  await patch('mutatingwebhookconfiguration', 'quorate-evictions', '--type=json', '-p', slow);
  const adopt = JSON.stringify([
    { op: 'replace', path: '/spec/template/spec/containers/0/args/1', value: '--mode=adopt' },
  ]);
  await patch('deployment', 'quorate', '-n', stage.NAMESPACE, '--type=json', '-p', adopt);
  const { code, of } = await examine();
  expect(code).toBe(3);
  expect(of('webhooks')).toContain('warn: evictions.quorate.dev: timeoutSeconds is 29, not 10');
  expect(of('mode')).toEqual(['fail: the leader runs in mode alongside, and adopt is installed']);
  await stage.apply(plane, ...installObjects({ ...defaultInstall, mode: 'alongside' }));
});

test('doctor sees a missing permission, an older definition and another keeper of budgets', async () => {
  await stage.kubectl(plane, 'delete', 'clusterrole', 'quorate');
  const remove = JSON.stringify([{ op: 'remove', path: '/spec/versions/0/additionalPrinterColumns/0' }]);
  const crd = ['crd', 'disruptionledgers.policy.quorate.dev', '--type=json', '-p', remove];
  await stage.kubectl(plane, 'patch', ...crd);
  const clientConfig = { url: 'https://127.0.0.1:1/x', caBundle: '' };
  await stage.apply(plane, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'kruise-validating-webhook-configuration' },
    webhooks: [
      {
        name: 'vpod.kruise.io',
        clientConfig,
        failurePolicy: 'Ignore',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        namespaceSelector: { matchLabels: { none: 'such' } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['pods'] }],
      },
    ],
  });
  const { code, of } = await examine();
  expect(code).toBe(3);
  expect(of('permissions')[0]).toContain('fail: the operator may not get pods, list pods, watch pods');
  expect(of('definitions')[1]).toContain(
    'fail: disruptionledgers.policy.quorate.dev is that of another version: spec.',
  );
  expect(of('other installations')[0]).toContain('fail: the webhooks "kruise-validating-webhook-configuration"');
  await stage.kubectl(plane, 'delete', 'validatingwebhookconfiguration', 'kruise-validating-webhook-configuration');
});

test('doctor sees an authority that does not vouch, and a webhook that is gone', async () => {
  const running = operator as Operator;
  const other = await createAuthority('other', { now: Date.now(), days: 1 });
  // An operator that runs mends it at once.
  await running.stop();
  operator = undefined;
  await stage.writeWebhooks(plane, { ...running, authority: other.certificate });
  const gone = await examine();
  expect(gone.of('certificate authority')[0]).toContain('does not vouch for the certificate in use');
  expect(gone.of('webhook callers')[0]).toContain('fail: reviews are not authenticated');
  expect(gone.of('webhook reachability')[0]).toContain('fail: the API server cannot ask a replica');
  expect(gone.of('certificate age')[0]).toContain('fail: no certificate from https://127.0.0.1');
  expect(gone.of('leader')).toEqual(['fail: nobody holds the lease; the last leader gave it back']);
});

test('doctor says that it cannot reach a cluster, and exits with 1', async () => {
  await plane.kill('kube-apiserver');
  const { code, stderr } = await run();
  expect(code).toBe(1);
  expect(stderr).toMatch(/^quorate doctor: .*ECONNREFUSED/);
});
