import { defaultInstall, findGroupKinds, type GroupKinds, installObjects, uninstall } from '../app/index.ts';
import { type ClusterFlags, openCluster } from './cluster.ts';

export interface InstallFlags extends ClusterFlags {
  readonly namespace: string;
  readonly image: string;
  readonly mode: 'alongside' | 'replace';
  readonly replicas: number;
  readonly failOpen: boolean;
  readonly certManager: boolean;
  readonly groups: GroupKinds | 'auto';
  readonly scheduler: boolean;
  readonly webhookFrom: string[];
}

export async function printInstall(flags: InstallFlags): Promise<void> {
  const groups = flags.groups === 'auto' ? await askCluster(flags) : flags.groups;
  const { stringify } = await import('yaml');
  const documents = installObjects({ ...defaultInstall, ...flags, groups }).map((object) =>
    stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }),
  );
  process.stdout.write(documents.join('---\n'));
}

/** Printing must work without a cluster; what it then assumes is said. */
async function askCluster({ context, kubeconfig }: InstallFlags): Promise<GroupKinds> {
  try {
    const cluster = openCluster({
      ...(context === undefined ? {} : { context }),
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
    });
    try {
      return await findGroupKinds(cluster.client);
    } finally {
      cluster.close();
    }
  } catch {
    process.stderr.write(
      'quorate install: cannot ask the cluster who serves Workload and PodGroup; assuming it does (--groups says otherwise)\n',
    );
    return 'native';
  }
}

export interface UninstallFlags extends ClusterFlags {
  readonly namespace: string;
  readonly keepDefinitions: boolean;
}

export async function runUninstall(flags: UninstallFlags): Promise<void> {
  try {
    const cluster = openCluster({ ...flags });
    await uninstall(cluster.client, {
      namespace: flags.namespace,
      keepDefinitions: flags.keepDefinitions,
      removed: (what) => process.stdout.write(`${what} removed\n`),
    });
    cluster.close();
  } catch (error) {
    process.stderr.write(`quorate uninstall: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
