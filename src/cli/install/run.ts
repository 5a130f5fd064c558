import {
  defaultInstall,
  findGroupKinds,
  findRequestKinds,
  type KindsFrom,
  installAndWait,
  installObjects,
  type InstallOptions,
  uninstall,
} from '../../app/index.ts';
import { FEATURE_NAMES, OPTIONAL_FEATURES } from '../../api/crds/features.ts';
import { type Client, systemClock } from '../../machinery/runtime/index.ts';
import { openCluster, withCluster } from '../shared/cluster.ts';
import type { ClusterFlags, DryRun } from '../shared/flags.ts';
import { complain } from '../shared/complain.ts';

export interface InstallFlags extends ClusterFlags {
  readonly namespace: string;
  readonly image: string;
  readonly mode: 'adopt' | 'alongside' | 'replace';
  readonly replicas: number;
  readonly failOpen: boolean;
  readonly certManager: boolean;
  readonly groups: KindsFrom | 'auto';
  readonly evictionRequests: KindsFrom | 'auto';
  readonly scheduler: boolean;
  readonly webhookFrom?: string[];
  readonly recreateWebhooks: boolean;
  readonly reservations: boolean;
  readonly dashboard: boolean;
  readonly noticeSecret?: readonly string[];
  readonly without?: string[];
  readonly wait: boolean;
  /** In milliseconds. */
  readonly timeout: number;
}

const NOT_READY = 3;

export async function runInstall(flags: InstallFlags): Promise<void> {
  if (flags.wait) process.exitCode = await install(flags);
  else await printInstall(flags);
}

async function printInstall(flags: InstallFlags): Promise<void> {
  const isTold = flags.groups !== 'auto' && flags.evictionRequests !== 'auto';
  const found = isTold ? ASSUMED : await askCluster(flags);
  const { stringify } = await import('yaml');
  const documents = installObjects(optionsOf(flags, found)).map((object) =>
    stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }),
  );
  process.stdout.write(documents.join('---\n'));
}

/** Applies the manifests and waits; unlike printing, this needs the cluster, so nothing is assumed. */
async function install(flags: InstallFlags): Promise<number> {
  return withCluster('install', flags, async (cluster) => {
    const found = await findKinds(cluster.client);
    if (flags.evictionRequests === 'crd' && found.requestKinds === 'native') {
      throw new Error(
        '--eviction-requests crd: the cluster serves EvictionRequests itself, and definitions would stand beside them',
      );
    }
    const missing = await installAndWait({
      client: cluster.client,
      clock: systemClock,
      install: optionsOf(flags, found),
      timeoutMs: flags.timeout,
      applied: (what) => process.stdout.write(`${what} applied\n`),
      waiting: ({ check, problem }) => complain(`waiting for the ${check}: ${problem}`),
    });
    if (missing === undefined) {
      process.stdout.write(`Quorate answers in namespace "${flags.namespace}", mode ${flags.mode}.\n`);
      return 0;
    }
    complain(
      `quorate install: not ready after ${flags.timeout / 1000} s: ${missing.check}: ${missing.problem}\nTo see more: quorate doctor -n ${flags.namespace}`,
    );
    return NOT_READY;
  });
}

function optionsOf(flags: InstallFlags, found: KindsFound): InstallOptions {
  const { certManager, dashboard, failOpen, image, mode, namespace, recreateWebhooks, replicas } = flags;
  const { noticeSecret: noticeSecrets = [], reservations, scheduler, webhookFrom = [] } = flags;
  const chosen = { certManager, dashboard, failOpen, image, mode, namespace, recreateWebhooks, replicas };
  const left = OPTIONAL_FEATURES.filter((feature) => flags.without?.includes(FEATURE_NAMES[feature]));
  const without = Object.fromEntries(left.map((feature) => [feature, false]));
  const groups = flags.groups === 'auto' ? found.groups : flags.groups;
  const requestKinds = flags.evictionRequests === 'auto' ? found.requestKinds : flags.evictionRequests;
  const kinds = { groups, requestKinds };
  return { ...defaultInstall, ...chosen, reservations, scheduler, webhookFrom, noticeSecrets, ...without, ...kinds };
}

type KindsFound = Pick<InstallOptions, 'groups' | 'requestKinds'>;

const ASSUMED: KindsFound = { groups: 'native', requestKinds: 'native' };

async function findKinds(client: Client): Promise<KindsFound> {
  return { groups: await findGroupKinds(client), requestKinds: await findRequestKinds(client) };
}

/** Printing must work without a cluster; what it then assumes is said. */
async function askCluster({ context, kubeconfig }: InstallFlags): Promise<KindsFound> {
  try {
    const cluster = openCluster({
      ...(context === undefined ? {} : { context }),
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
    });
    try {
      return await findKinds(cluster.client);
    } finally {
      cluster.close();
    }
  } catch {
    complain(
      'quorate install: cannot ask the cluster who serves Workload, PodGroup and EvictionRequest; assuming it does (--groups and --eviction-requests say otherwise)',
    );
    return ASSUMED;
  }
}

export interface UninstallFlags extends ClusterFlags {
  readonly namespace: string;
  readonly keepDefinitions: boolean;
  readonly dryRun?: DryRun;
  readonly yes: boolean;
}

/** On a terminal; scripts know what they do. */
async function isConfirmed({ dryRun = 'none', keepDefinitions, namespace, yes }: UninstallFlags): Promise<boolean> {
  if (dryRun !== 'none' || yes || !process.stdin.isTTY || !process.stdout.isTTY) return true;
  const { createInterface } = await import('node:readline/promises');
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  const what = keepDefinitions ? '' : ', with all PodUnavailableBudgets, pickers and ledgers';
  const answer = await prompt.question(`Remove Quorate from namespace "${namespace}"${what}? [y/N] `);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}

export async function runUninstall(flags: UninstallFlags): Promise<void> {
  if (!(await isConfirmed(flags))) {
    complain('quorate uninstall: nothing was removed');
    process.exitCode = 1;
    return;
  }
  const { dryRun = 'none', keepDefinitions, namespace } = flags;
  const became = dryRun === 'none' ? 'removed' : 'would be removed';
  process.exitCode = await withCluster('uninstall', flags, async ({ client }) => {
    await uninstall(client, {
      namespace,
      keepDefinitions,
      dryRun,
      removed: (what) => process.stdout.write(`${what} ${became}\n`),
    });
    return 0;
  });
}
