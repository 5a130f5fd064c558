import { deploymentType, podType, replicaSetType } from '../../../api/resource-types.ts';
import { formatKey } from '../../../api/resource.ts';
import {
  type Controller,
  defineController,
  FeatureGates,
  isNamespaceTerminating,
  TerminalError,
} from '../../../machinery/runtime/index.ts';
import { indexByController, ReadYourWrites } from '../../shared/pod-control/index.ts';
import { reconcileDeployment } from './reconcile.ts';
import { watchDeployments } from './watches.ts';

export interface DeploymentControllerOptions {
  readonly gates?: FeatureGates | undefined;
  /** Deployments worked on at once. Default 5. */
  readonly workers?: number | undefined;
}

const NAME = 'deployment-controller';
/** After this many failures in a row a Deployment waits for its next change. */
const MAX_FAILURES = 15;

/** Rolls Deployments out over ReplicaSets. */
export function createDeploymentController(options: DeploymentControllerOptions = {}): Controller {
  const { gates = new FeatureGates(), workers = 5 } = options;
  return defineController({
    name: NAME,
    workers,
    deps(context, queueOf) {
      const { informers } = context;
      const replicaSets = informers.of(replicaSetType);
      const pods = informers.of(podType);
      indexByController(replicaSets);
      indexByController(pods);
      return {
        context,
        gates,
        deployments: informers.of(deploymentType),
        replicaSets,
        pods,
        writes: new ReadYourWrites(),
        events: context.eventsFor(NAME),
        failures: (key: string) => queueOf(NAME).failures(key),
      };
    },
    watches: watchDeployments,
    async reconcile(deps, key) {
      try {
        return await reconcileDeployment(deps, key);
      } catch (error) {
        if (!isNamespaceTerminating(error) && deps.failures(formatKey(key)) < MAX_FAILURES) throw error;
        throw new TerminalError(`Cannot roll out: ${String(error)}`, { cause: error });
      }
    },
  });
}
