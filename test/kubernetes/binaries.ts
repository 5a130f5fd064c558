import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The Kubernetes minors that tests can run against; test/kubernetes/build.sh builds them. */
export const MINORS = ['1.35', '1.36', '1.37'] as const;
export type Minor = (typeof MINORS)[number];
/** Those that know PodGroups themselves. */
export const GROUP_MINORS = ['1.36', '1.37'] as const satisfies readonly Minor[];
export type GroupMinor = (typeof GROUP_MINORS)[number];
const DEFAULT_MINOR: Minor = '1.36';

/** The minor that suites run on which do not choose one themselves: QUORATE_KUBERNETES_VERSION, or the default one. */
export function chosenMinor(): Minor {
  const asked = process.env['QUORATE_KUBERNETES_VERSION'] || DEFAULT_MINOR;
  const found = MINORS.find((minor) => minor === asked);
  if (found === undefined) {
    throw new RangeError(`QUORATE_KUBERNETES_VERSION is "${asked}"; known are ${MINORS.join(', ')}`);
  }
  return found;
}

/** How a minor is made to serve Workload and PodGroup, and in which version. */
export function groupServing(minor: GroupMinor): { featureGates: string; version: 'v1alpha2' | 'v1beta1' } {
  return minor === '1.36'
    ? { featureGates: 'GenericWorkload=true,GangScheduling=true', version: 'v1alpha2' }
    : { featureGates: 'GenericWorkload=true', version: 'v1beta1' };
}

export const BINARIES = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'e2e.test',
  'informers',
] as const;
export type Binary = (typeof BINARIES)[number];

const here = import.meta.dirname;

/** The folder of a minor's binaries if all the named ones are there already; undefined otherwise. Builds nothing. */
export function findBinaries(minor: Minor, names: readonly Binary[]): string | undefined {
  const given = minor === '1.36' ? process.env['KUBEBUILDER_ASSETS'] : undefined;
  const folders = [...(given ? [given] : []), cacheFolder(minor)];
  return folders.find((folder) => names.every((name) => isExecutable(join(folder, name))));
}

/** The folder of a minor's binaries, building what is missing. Needs Go for that; throws a clear error without. */
export function requireBinaries(minor: Minor, names: readonly Binary[]): string {
  return (
    findBinaries(minor, names) ??
    execFileSync(join(here, 'build.sh'), [minor, ...names], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }).trim()
  );
}

/** The folder of Karpenter with its kwok provider, and of its definitions; built if it is missing. */
export function requireKarpenter(): { readonly program: string; readonly definitions: string } {
  const folder = execFileSync(join(here, 'build.sh'), ['karpenter'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
  return { program: join(folder, 'karpenter'), definitions: join(folder, 'definitions') };
}

function cacheFolder(minor: Minor): string {
  const cache =
    process.env['QUORATE_KUBERNETES_CACHE'] ??
    join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'quorate', 'kubernetes');
  return join(cache, pinnedVersion(minor));
}

function pinnedVersion(minor: Minor): string {
  const line = execFileSync(
    'awk',
    ['$1 == "k8s.io/kubernetes" { print $2; exit }', join(here, `v${minor}`, 'go.mod')],
    {
      encoding: 'utf8',
    },
  );
  return line.trim();
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
