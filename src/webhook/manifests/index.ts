import {
  disruptionLedgerDefinition,
  downscalePodPickerDefinition,
  groupDefinitions,
  groupEvictionDefinition,
  podUnavailableBudgetDefinition,
} from '../../api/crds/index.ts';
import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import type { KubeObject } from '../../api/resource.ts';
import { accessObjects } from './access.ts';
import { type GroupKinds, type InstallOptions, labels } from './options.ts';
import { schedulerObjects } from './scheduler.ts';
import { webhookConfigurations } from './webhooks.ts';
import { workloadObjects } from './workload.ts';

export { accessObjects } from './access.ts';
export * from './options.ts';
export { type Reach, webhookConfigurations } from './webhooks.ts';

/** The definitions a cluster needs; those of kinds that it or other software brings are not among them. */
export function definitions(groups: GroupKinds = 'native'): CustomResourceDefinition[] {
  return [
    podUnavailableBudgetDefinition,
    disruptionLedgerDefinition,
    downscalePodPickerDefinition,
    groupEvictionDefinition,
    ...(groups === 'crd' ? groupDefinitions : []),
  ].map((definition) => ({ ...definition, metadata: { ...definition.metadata, labels } }));
}

/** Everything an installation consists of, in the order it must be applied. Removing goes the other way round. */
export function installObjects(options: InstallOptions): KubeObject[] {
  return [
    ...definitions(options.groups),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: options.namespace, labels } },
    ...accessObjects(options),
    ...workloadObjects(options),
    ...(options.scheduler ? schedulerObjects(options) : []),
    // Last: from here on requests are asked about, so there must be somebody to answer.
    ...webhookConfigurations(options),
  ] as KubeObject[];
}
