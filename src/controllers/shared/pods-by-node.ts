import type { Pod } from '../../api/generated/core-v1.ts';
import type { Informer } from '../../machinery/runtime/index.ts';

const BY_NODE = 'by-node';

/** Has pods found by the node they are on: one index for all who ask. */
export function indexByNode(pods: Informer<Pod>): void {
  pods.addIndex(BY_NODE, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
}

export const podsOn = (pods: Informer<Pod>, node: string): Pod[] => pods.byIndex(BY_NODE, node);
