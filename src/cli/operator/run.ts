import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { type OperatorOptions, startOperator } from '../../app/index.ts';
import { type PickerFlags, pickerOptions } from '../shared/picker-flags.ts';
import { FeatureGates } from '../../machinery/runtime/index.ts';
import type { KubeconfigFlags } from '../shared/flags.ts';
import { historyBounds, type HistoryBoundFlags } from '../shared/history-flags.ts';
import { createLogger } from '../shared/logger.ts';
import { watchProcess } from '../shared/process-end.ts';

export interface OperatorFlags extends KubeconfigFlags, PickerFlags, HistoryBoundFlags {
  readonly mode: 'adopt' | 'alongside' | 'replace';
  readonly namespace: string;
  readonly bind: string;
  readonly webhookPort: number;
  readonly metricsPort: number;
  readonly metricsOpen?: boolean;
  readonly dashboardPort?: number;
  readonly dashboardHost?: string[];
  readonly dashboardWrites?: boolean;
  readonly host?: string[];
  readonly certificates?: string;
  readonly clientCa?: string;
  readonly clientNames?: string[];
  readonly failOpen?: boolean;
  readonly featureGates?: string;
  readonly compat?: 'kruise';
  readonly evictionRequestController: 'Auto' | 'On' | 'Off';
  readonly settlingSeconds: number;
  readonly identity?: string;
  readonly logLevel: string;
  readonly logFormat: 'text' | 'json';
}

const LOST_LEADERSHIP = 3;

export async function runOperator(flags: OperatorFlags): Promise<void> {
  const log = createLogger(flags.logLevel, flags.logFormat);
  const end = watchProcess('operator', log);
  try {
    const operator = await startOperator({
      kubeconfig: flags.kubeconfig,
      context: flags.context,
      namespace: flags.namespace,
      mode: flags.mode,
      bind: flags.bind,
      webhookPort: flags.webhookPort,
      metricsPort: flags.metricsPort,
      metricsOpen: flags.metricsOpen,
      dashboard: dashboardOf(flags),
      hosts: flags.host,
      certificates: flags.certificates,
      clients: clientsOf(flags),
      failOpen: flags.failOpen,
      gates: flags.featureGates === undefined ? undefined : FeatureGates.parse(flags.featureGates),
      evictionRequests: flags.evictionRequestController,
      pickers: pickerOptions(flags),
      compat: flags.compat,
      settlingMs: flags.settlingSeconds * 1000,
      history: historyBounds(flags),
      identity: flags.identity ?? `${hostname()}-${randomBytes(4).toString('hex')}`,
      log,
      lost() {
        log.error({}, 'this replica is no longer the leader; exiting so that nothing is done twice');
        process.exit(LOST_LEADERSHIP);
      },
    });
    await operator.ready;
    const stopped = end.asked();
    process.stdout.write(
      `Quorate runs on ${operator.server} (${operator.clusterVersion}), ${flags.mode}; webhook on port ${operator.webhookPort}, metrics on ${operator.metricsPort}${operator.dashboardPort === undefined ? '' : `, dashboard on ${operator.dashboardPort}`}.\n`,
    );
    await stopped;
    await end.stop(() => operator.stop());
  } catch (error) {
    // What was started before it failed must not go on half alive.
    const message = `quorate operator: ${error instanceof Error ? error.message : String(error)}\n`;
    process.stderr.write(message, () => process.exit(1));
  }
}

function dashboardOf({ dashboardHost, dashboardPort, dashboardWrites }: OperatorFlags): OperatorOptions['dashboard'] {
  if (dashboardPort !== undefined) return { port: dashboardPort, hosts: dashboardHost, writes: dashboardWrites };
  if (dashboardHost === undefined && dashboardWrites === undefined) return undefined;
  throw new Error('--dashboard-host and --dashboard-writes need --dashboard-port: without it there is no dashboard');
}

function clientsOf({ clientCa, clientNames }: OperatorFlags): { authority: string; names: string[] } | undefined {
  if (clientCa !== undefined) return { authority: readFileSync(clientCa, 'utf8'), names: clientNames ?? [] };
  if (clientNames === undefined) return undefined;
  throw new Error('--client-names needs --client-ca: without it no certificate is asked for');
}
