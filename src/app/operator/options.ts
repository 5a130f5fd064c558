import type { HistoryBounds } from '../../decisions/history/index.ts';
import type { EvictionRequestMode } from '../../controllers/quorate/index.ts';
import type { Clock, FeatureGates, Logger } from '../../machinery/runtime/index.ts';
import type { OperatorMode } from '../../webhook/index.ts';
import type { PickingOptions } from './picking.ts';

export interface OperatorOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** Namespace of the lease and the certificate. */
  readonly namespace: string;
  readonly mode: OperatorMode;
  /** Address the webhook listens on. */
  readonly bind: string;
  readonly webhookPort: number;
  readonly metricsPort: number;
  /** Anybody may read the metrics, without TLS; otherwise those whom the API server lets get /metrics. */
  readonly metricsOpen?: boolean | undefined;
  /** A page for people who show a token of the cluster's, on a port of its own. Absent: none. */
  readonly dashboard?:
    | {
        readonly port: number;
        /** Names besides addresses, `localhost` and those of the Service under which it may be reached. */
        readonly hosts?: readonly string[] | undefined;
        /** It may cordon, drain, pause and resume, with the rights of whoever has logged in. */
        readonly writes?: boolean | undefined;
      }
    | undefined;
  /** More names or addresses the webhook is reached by. */
  readonly hosts?: readonly string[] | undefined;
  /** Folder with tls.crt, tls.key and ca.crt that somebody else renews; own certificates when absent. */
  readonly certificates?: string | undefined;
  /** Reviews are believed by the certificate of who asks; otherwise by a secret in their path. */
  readonly clients?: { readonly authority: string; readonly names: readonly string[] } | undefined;
  /** Requests pass when no replica answers, instead of being refused. */
  readonly failOpen?: boolean | undefined;
  readonly gates?: FeatureGates | undefined;
  /** `kruise`: PodUnavailableBudgets with OpenKruise's quirks instead of the safer rules. */
  readonly compat?: 'kruise' | undefined;
  /** How long groups must have been unresolved before a budget that counted them counts pods. Default 30 s. */
  readonly settlingMs?: number | undefined;
  /** How long nobody else may have written the status of a budget before nobody else is thought to. Default 10 min. */
  readonly quietMs?: number | undefined;
  /** By which formula numbers are published, where it is not this version's: see `status.publication` of ledgers. */
  readonly publication?: number | undefined;
  /** How much of the record of disruptions is kept. Default: 14 days, 64 MiB. */
  readonly history?: HistoryBounds | undefined;
  /** Whether EvictionRequests are carried out, where the cluster serves them. Default `Auto`. */
  readonly evictionRequests?: EvictionRequestMode | undefined;
  readonly pickers?: Omit<PickingOptions, 'enabled'> | undefined;
  /** Names this replica; must differ from every other's. */
  readonly identity: string;
  readonly log: Logger;
  /** This machine's clock; the API server's corrects it. Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Called when this replica was the leader and no longer is: the process should end. */
  readonly lost: () => void;
}

export interface Operator {
  readonly server: string;
  readonly clusterVersion: string;
  readonly webhookPort: number;
  readonly metricsPort: number;
  readonly dashboardPort?: number | undefined;
  readonly authority: string;
  /** Where reviews are believed that come without a certificate. */
  readonly reviewPath: (path: string) => string;
  readonly isLeading: () => boolean;
  /** Resolves when every cache is filled and reviews are answered. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}
