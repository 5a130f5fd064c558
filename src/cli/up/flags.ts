import type { HistoryBoundFlags } from '../shared/history-flags.ts';
import type { PickerFlags } from '../shared/picker-flags.ts';

/** What `quorate up` was asked for. */
export interface UpFlags extends PickerFlags, HistoryBoundFlags {
  readonly port: number;
  readonly bind: string;
  readonly dataDir?: string;
  readonly kubeconfig?: string;
  readonly nodes: number;
  readonly apiOnly?: boolean;
  readonly rules?: string;
  readonly featureGates?: string;
  readonly compat?: 'kruise';
  readonly settlingSeconds: number;
  readonly logLevel: string;
  readonly logFormat: string;
  readonly allowWrites?: boolean;
  readonly ephemeral?: boolean;
  readonly detach?: boolean;
  readonly kubeconfigMerge?: boolean;
  /** Set by `up -d` for the process it starts. */
  readonly tellParent?: boolean;
  readonly logFile?: string;
}
