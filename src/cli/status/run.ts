import { formatAge } from '../../machinery/values/index.ts';
import { openCluster } from '../shared/cluster.ts';
import { formatOutput, type OutputFormat } from '../shared/output.ts';
import { dataDirectoryOf, findRunning, type RunningPlane } from '../shared/running.ts';

export interface StatusFlags {
  readonly dataDir?: string;
  readonly output: OutputFormat;
}

const NOT_READY = 1;
const NOT_UP = 3;

export async function runStatus({ dataDir, output }: StatusFlags): Promise<number> {
  const directory = dataDirectoryOf(dataDir);
  const plane = findRunning(directory);
  if (plane === undefined) {
    const lines = [
      `No control plane is running on ${directory}.`,
      'To start a control plane in the background: quorate up -d',
    ];
    process.stdout.write(formatOutput({ up: false }, lines, output));
    return NOT_UP;
  }
  const problem = await problemOf(plane);
  const { context, data, kubeconfig, log, pid, since, url } = plane;
  const value = { up: true, ready: problem === undefined, url, kubeconfig, context, data, log, pid, since };
  const lines = [
    `Up for ${formatAge(Date.now() - since)} (process ${pid}), ${problem === undefined ? 'ready' : `not ready: ${problem}`}.`,
    `  API server   ${url}`,
    `  Data         ${data ?? 'in memory'}`,
    `  Kubeconfig   ${kubeconfig}`,
    ...(context === undefined ? [] : [`  Context      ${context}`]),
    `  Log          ${log ?? 'on the terminal it runs in'}`,
  ];
  process.stdout.write(formatOutput(value, lines, output));
  return problem === undefined ? 0 : NOT_READY;
}

/** Why the API server is not ready; undefined where it is. */
async function problemOf({ kubeconfig }: RunningPlane): Promise<string | undefined> {
  try {
    const cluster = openCluster({ kubeconfig, requestTimeout: 5000 });
    try {
      await cluster.client.request('GET', '/version');
      return undefined;
    } finally {
      cluster.close();
    }
  } catch (error) {
    return (error as Error).message;
  }
}
