import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type EmbeddedHost, parseRules, RULE_NAMES, startEmbedded } from '../../app/index.ts';
import { FeatureGates } from '../../machinery/runtime/index.ts';
import { createLogger } from '../shared/logger.ts';
import { pickerOptions } from '../shared/picker-flags.ts';
import { watchProcess } from '../shared/process-end.ts';
import type { UpFlags } from './flags.ts';

export async function runUp(flags: UpFlags): Promise<void> {
  const startedAt = Date.now();
  const rules = flags.rules === undefined ? undefined : parseRules(flags.rules);
  if (flags.rules !== undefined && rules === undefined) {
    process.stderr.write(`quorate up: unknown rule in "${flags.rules}"; known are ${RULE_NAMES.join(', ')}\n`);
    process.exitCode = 1;
    return;
  }
  const log = createLogger(flags.logLevel, flags.logFormat);
  const end = watchProcess('up', log);
  const dataDirectory = flags.ephemeral ? undefined : resolve(flags.dataDir ?? defaultDataDirectory());
  const temporary =
    flags.ephemeral && flags.kubeconfig === undefined ? mkdtempSync(join(tmpdir(), 'quorate-')) : undefined;
  const kubeconfig = resolve(flags.kubeconfig ?? join(temporary ?? (dataDirectory as string), 'kubeconfig'));
  let host: EmbeddedHost;
  try {
    host = await startEmbedded({
      dataDirectory,
      port: flags.port,
      bind: flags.bind,
      kubeconfig,
      nodes: flags.nodes,
      apiOnly: flags.apiOnly,
      rules,
      gates: flags.featureGates === undefined ? undefined : FeatureGates.parse(flags.featureGates),
      pickers: pickerOptions(flags),
      compat: flags.compat,
      settlingMs: flags.settlingSeconds * 1000,
      log,
    });
  } catch (error) {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
    process.stderr.write(`quorate up: ${explain(error, flags)}\n`);
    process.exitCode = 1;
    return;
  }
  const stopped = end.asked();
  process.stdout.write(banner(host, flags, dataDirectory, Date.now() - startedAt));
  await stopped;
  process.stdout.write('\nStopping…\n');
  await end.stop(async () => {
    await host.stop();
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
    process.stdout.write(dataDirectory === undefined ? 'Stopped.\n' : 'Stopped. The next quorate up continues here.\n');
  });
}

function defaultDataDirectory(): string {
  return join(process.env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'quorate');
}

function explain(error: unknown, flags: UpFlags): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `port ${flags.port} on ${flags.bind} is in use; choose another with --port`;
  if (code === 'ENOSPC') return `the disk is full: ${message}`;
  if (code === 'EACCES') return `no permission: ${message}`;
  return message;
}

const TRY_ALL = [
  'kubectl get nodes',
  'kubectl create deployment web --image=nginx --replicas=3',
  'kubectl get pods -o wide',
];
const TRY_API = ['kubectl api-resources', 'kubectl run web --image=nginx', 'kubectl get pods'];

function banner(host: EmbeddedHost, flags: UpFlags, dataDirectory: string | undefined, tookMs: number): string {
  const running = flags.apiOnly ? 'Runs         the API server alone' : `Nodes        ${flags.nodes} simulated`;
  // What is not a terminal may keep what it is told, and whoever reads it could log in.
  const page = process.stdout.isTTY ? host.dashboardLink() : 'npx quorate dashboard';
  const first = (flags.apiOnly ? TRY_API : TRY_ALL).join('\n    ');
  return `
  Quorate is up (${(tookMs / 1000).toFixed(1)} s).

    API server   ${host.url}
    Data         ${dataDirectory ?? 'in memory, gone when this stops'}
    ${running}
    Dashboard    ${page}

  In another terminal:

    export KUBECONFIG=${host.kubeconfig}
    ${first}

  What it is for, told in a minute (it needs nothing of the above):

    npx quorate demo

  Ctrl-C stops it.
`;
}
