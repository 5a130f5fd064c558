import { deploymentType, podType, replicaSetType } from '../../api/resource-types.ts';
import { formatKey } from '../../api/resource.ts';
import {
  FeatureGates,
  isNamespaceTerminating,
  runController,
  type StartController,
  TerminalError,
  WorkQueue,
} from '../../machinery/runtime/index.ts';
import { indexByController, OwnWrites } from '../pod-control/index.ts';
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
export function createDeploymentController(options: DeploymentControllerOptions = {}): StartController {
  const { gates = new FeatureGates(), workers = 5 } = options;
  return (context) => {
    const { clock, informers, metrics } = context;
    const deployments = informers.of(deploymentType);
    const replicaSets = informers.of(replicaSetType);
    const pods = informers.of(podType);
    indexByController(replicaSets);
    indexByController(pods);
    const queue = new WorkQueue({ name: NAME, clock, metrics });
    const deps = {
      context,
      gates,
      deployments,
      replicaSets,
      pods,
      writes: new OwnWrites(),
      events: context.eventsFor(NAME),
    };
    watchDeployments(deps, queue);
    runController({
      name: NAME,
      context,
      queue,
      workers,
      async reconcile(key) {
        try {
          return await reconcileDeployment(deps, key);
        } catch (error) {
          if (!isNamespaceTerminating(error) && queue.failures(formatKey(key)) < MAX_FAILURES) throw error;
          throw new TerminalError(`Cannot roll out: ${String(error)}`, { cause: error });
        }
      },
      ready: async () => {
        await Promise.all([deployments.whenSynced(), replicaSets.whenSynced(), pods.whenSynced()]);
      },
    });
    return { name: NAME, queues: [queue] };
  };
}
