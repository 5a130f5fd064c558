import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type EmbeddedHost, parseRules, RULE_NAMES, startEmbedded } from '../../app/index.ts';
import { FeatureGates } from '../../machinery/runtime/index.ts';
import { createLogger } from '../shared/logger.ts';
import { historyBounds } from '../shared/history-flags.ts';
import { pickerOptions } from '../shared/picker-flags.ts';
import { watchProcess } from '../shared/process-end.ts';
import { dataDirectoryOf, forgetRunning, noteRunning } from '../shared/running.ts';
import { banner } from './banner.ts';
import type { UpFlags } from './flags.ts';
import { CONTEXT, mergeKubeconfig, userKubeconfig } from './merge-kubeconfig.ts';
import { complain } from '../shared/complain.ts';

export async function runUp(flags: UpFlags): Promise<void> {
  const startedAt = Date.now();
  const rules = flags.rules === undefined ? undefined : parseRules(flags.rules);
  if (flags.rules !== undefined && rules === undefined) {
    complain(`quorate up: unknown rule in "${flags.rules}"; known are ${RULE_NAMES.join(', ')}`);
    process.exitCode = 1;
    return;
  }
  const log = createLogger(flags.logLevel, flags.logFormat);
  const end = watchProcess('up', log);
  const dataDirectory = flags.ephemeral ? undefined : dataDirectoryOf(flags.dataDir);
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
      allowWrites: flags.allowWrites,
      settlingMs: flags.settlingSeconds * 1000,
      history: historyBounds(flags),
      log,
    });
  } catch (error) {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
    complain(`quorate up: ${explain(error, flags)}`);
    process.exitCode = 1;
    return;
  }
  const stopped = end.asked();
  const leave = announce(host, flags, { dataDirectory, tookMs: Date.now() - startedAt });
  await stopped;
  process.stdout.write('\nStopping…\n');
  await end.stop(async () => {
    leave();
    await host.stop();
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
    process.stdout.write(dataDirectory === undefined ? 'Stopped.\n' : 'Stopped. The next quorate up continues here.\n');
  });
}

/** Says that it is up: to the terminal, to who started it, to `quorate status`. Gives what takes that back. */
function announce(
  host: EmbeddedHost,
  flags: UpFlags,
  { dataDirectory, tookMs }: { dataDirectory: string | undefined; tookMs: number },
): () => void {
  const { kubeconfig, url } = host;
  const unmerge = flags.kubeconfigMerge ? mergeOrSay(kubeconfig) : undefined;
  const context = unmerge === undefined ? undefined : CONTEXT;
  const plane = { url, kubeconfig, context, dashboard: host.dashboardLink(), dataDirectory, tookMs };
  // In memory and in the foreground nothing is left on disk, not even a note.
  const noted = dataDirectory ?? (flags.logFile === undefined ? undefined : dataDirectoryOf(flags.dataDir));
  if (noted !== undefined) {
    noteRunning(noted, { url, kubeconfig, context, data: dataDirectory, log: flags.logFile, since: Date.now() });
  }
  if (flags.tellParent && process.send !== undefined) {
    // Whoever started it may be gone by now.
    process.send(plane, () => process.connected && process.disconnect());
    process.stdout.write(`Quorate is up at ${url}.\n`);
  } else process.stdout.write(banner(plane, flags));
  return () => {
    unmerge?.();
    if (noted !== undefined) forgetRunning(noted);
  };
}

function mergeOrSay(kubeconfig: string): (() => void) | undefined {
  try {
    return mergeKubeconfig(kubeconfig, userKubeconfig());
  } catch (error) {
    complain(`quorate up: ${(error as Error).message}; use ${kubeconfig} instead`);
    return undefined;
  }
}

function explain(error: unknown, flags: UpFlags): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `port ${flags.port} on ${flags.bind} is in use; choose another with --port`;
  if (code === 'ENOSPC') return `the disk is full: ${message}`;
  if (code === 'EACCES') return `no permission: ${message}`;
  return message;
}
