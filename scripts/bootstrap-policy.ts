/**
 * Writes the roles and bindings that every Kubernetes cluster starts with, read from the Kubernetes module that
 * test/kubernetes pins, to src/apiserver/auth/rbac/bootstrap-policy.generated.json. Run it when that module is raised:
 *
 *   tsx scripts/bootstrap-policy.ts
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..');
const cwd = join(root, 'test/kubernetes/v1.36');
const module = execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', 'k8s.io/kubernetes'], { cwd, encoding: 'utf8' });
const folder = join(module.trim(), 'plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata');

/** The cluster roles are those with all features on: the embedded host serves the kinds of these features. */
const FILES = [
  'cluster-roles-featuregates',
  'controller-roles',
  'namespace-roles',
  'cluster-role-bindings',
  'controller-role-bindings',
  'namespace-role-bindings',
];

const lines = FILES.flatMap((name) => {
  const { items } = parse(readFileSync(join(folder, `${name}.yaml`), 'utf8')) as { items: object[] };
  return items.map((item) => JSON.stringify(item));
});
const file = join(root, 'src/apiserver/auth/rbac/bootstrap-policy.generated.json');
writeFileSync(file, `[\n${lines.join(',\n')}\n]\n`);
