import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';

let plane: RealControlPlane;

beforeAll(async () => {
  plane = await startRealControlPlane();
});

afterAll(() => plane?.stop());

const kubectl = (...args: string[]): string =>
  execFileSync(join(plane.binaries, 'kubectl'), ['--kubeconfig', plane.kubeconfig, ...args], { encoding: 'utf8' });

test('the real control plane answers kubectl', () => {
  const version = JSON.parse(kubectl('version', '-o', 'json')) as { serverVersion: { gitVersion: string } };
  expect(version.serverVersion.gitVersion).toMatch(/^v1\.36\./);
});

test('the real control plane keeps its data when the API server and etcd are killed and started again', async () => {
  kubectl('create', 'configmap', 'kept', '--from-literal=a=b');
  await plane.kill('kube-apiserver');
  await plane.kill('etcd');
  await plane.restart('etcd');
  await plane.restart('kube-apiserver');
  expect(kubectl('get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}')).toBe('b');
});
