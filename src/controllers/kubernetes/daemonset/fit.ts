import { tolerates } from '../../../api/core/toleration.ts';
import { compileNodeChoice, matchesNodeChoice } from '../../../decisions/gang/index.ts';
import type { DaemonSet, Node } from './kinds.ts';
import { daemonTolerations } from './template.ts';

export interface Fit {
  /** The set wants a pod here. */
  readonly shouldRun: boolean;
  /** A pod that is already here may stay. */
  readonly mayStay: boolean;
}

const nowhere: Fit = { shouldRun: false, mayStay: false };

/**
 * Answers for each node whether a set's pod belongs there: name, selector and affinity must match; a taint that is
 * not tolerated keeps new pods out, and if it is NoExecute also drives out those that run.
 */
export function fitOf(set: DaemonSet): (node: Node) => Fit {
  const spec = set.spec?.template.spec;
  const choice = compileNodeChoice(spec);
  const tolerations = daemonTolerations(spec ?? { containers: [] });
  return ({ metadata, spec: nodeSpec }) => {
    const name = metadata.name ?? '';
    if (spec?.nodeName && spec.nodeName !== name) return nowhere;
    if (!matchesNodeChoice(choice, metadata.labels ?? {}, name)) return nowhere;
    const untolerated = (nodeSpec?.taints ?? []).filter(
      (taint) => !tolerations.some((toleration) => tolerates(toleration, taint)),
    );
    return {
      shouldRun: !untolerated.some(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute'),
      mayStay: !untolerated.some(({ effect }) => effect === 'NoExecute'),
    };
  };
}
