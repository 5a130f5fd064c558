import {
  disruptionLedgerDefinition,
  downscalePodPickerDefinition,
  groupEvictionDefinition,
  podUnavailableBudgetDefinition,
} from '../../api/crds/index.ts';
import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import type { KubeObject } from '../../api/resource.ts';
import { accessObjects } from './access.ts';
import { type InstallOptions, labels } from './options.ts';
import { validatingWebhooks } from './webhooks.ts';
import { workloadObjects } from './workload.ts';

export { accessObjects } from './access.ts';
export * from './options.ts';
export { type Reach, validatingWebhooks } from './webhooks.ts';

/** The definitions a cluster needs; those of kinds that other software brings are not among them. */
export function definitions(): CustomResourceDefinition[] {
  const ours = [
    podUnavailableBudgetDefinition,
    disruptionLedgerDefinition,
    downscalePodPickerDefinition,
    groupEvictionDefinition,
  ];
  return ours.map((definition) => ({ ...definition, metadata: { ...definition.metadata, labels } }));
}

/** Everything an installation consists of, in the order it must be applied. Removing goes the other way round. */
export function installObjects(options: InstallOptions): KubeObject[] {
  return [
    ...definitions(),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: options.namespace, labels } },
    ...accessObjects(options),
    ...workloadObjects(options),
    // Last: from here on requests are asked about, so there must be somebody to answer.
    validatingWebhooks(options),
  ] as KubeObject[];
}
