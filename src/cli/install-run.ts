import { defaultInstall, installObjects, uninstall } from '../app/index.ts';
import { type ClusterFlags, openCluster } from './cluster.ts';

export interface InstallFlags {
  readonly namespace: string;
  readonly image: string;
  readonly mode: 'alongside' | 'replace';
  readonly replicas: number;
  readonly failOpen: boolean;
  readonly certManager: boolean;
}

export async function printInstall(flags: InstallFlags): Promise<void> {
  const { stringify } = await import('yaml');
  const documents = installObjects({ ...defaultInstall, ...flags }).map((object) =>
    stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }),
  );
  process.stdout.write(documents.join('---\n'));
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
