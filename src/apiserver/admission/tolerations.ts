/** Small rules about taints: pods stay five minutes on a node that went away, new nodes start as not ready. */
import type { Node, Toleration } from '../../api/generated/core-v1.ts';
import type { AdmissionPlugin } from '../context/admission-plugin.ts';
import { isPodWrite, podOf, specOf } from './pods.ts';

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const STAY_SECONDS = 300;

export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  handles: isPodWrite,
  admit(attributes) {
    const spec = specOf(podOf(attributes));
    const tolerations = spec.tolerations ?? [];
    const covered = (key: string): boolean =>
      tolerations.some(
        (toleration) =>
          (!toleration.key || toleration.key === key) && (!toleration.effect || toleration.effect === 'NoExecute'),
      );
    const added: Toleration[] = [NOT_READY, UNREACHABLE]
      .filter((key) => !covered(key))
      .map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: STAY_SECONDS }));
    if (added.length > 0) spec.tolerations = [...tolerations, ...added];
  },
};

export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  handles: ({ resource, operation, subresource }) =>
    resource.group === '' && resource.plural === 'nodes' && operation === 'CREATE' && subresource === undefined,
  admit({ object }) {
    const node = object as Node;
    node.spec ??= {};
    const taints = node.spec.taints ?? [];
    if (taints.some(({ key, effect }) => key === NOT_READY && effect === 'NoSchedule')) return;
    node.spec.taints = [...taints, { key: NOT_READY, effect: 'NoSchedule' }];
  },
};
