import type { Deployment, DeploymentStatus, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { deploymentType, replicaSetType } from '../../../api/resource-types.ts';
import { keyOf } from '../../../api/resource.ts';
import type { ControllerContext, EventRecorder, FeatureGates, Informer } from '../../../machinery/runtime/index.ts';
import type { ReadYourWrites } from '../../shared/pod-control/index.ts';

export interface DeploymentDeps {
  readonly context: ControllerContext;
  readonly gates: FeatureGates;
  readonly deployments: Informer<Deployment>;
  readonly replicaSets: Informer<ReplicaSet>;
  readonly pods: Informer<Pod>;
  readonly writes: ReadYourWrites;
  readonly events: EventRecorder;
}

/** One pass over one Deployment: a private copy of it, replaced by what each write returned. */
export class Pass {
  readonly deps: DeploymentDeps;
  readonly now: number;
  deployment: Deployment;

  constructor(deps: DeploymentDeps, deployment: Deployment) {
    this.deps = deps;
    this.now = deps.context.clock.now();
    this.deployment = deployment;
  }

  get key(): string {
    return keyOf(this.deployment);
  }

  /** Writes status, and annotations with it: the revision travels that way. */
  async writeStatus(status: DeploymentStatus, annotations = this.deployment.metadata.annotations): Promise<void> {
    const { context, deployments, writes } = this.deps;
    const { metadata } = this.deployment;
    const changed: Deployment = {
      ...this.deployment,
      metadata: { ...metadata, ...(annotations === undefined ? {} : { annotations }) },
      status,
    };
    this.deployment = await context.client.updateStatus(deploymentType, changed);
    writes.record(this.key, deployments, this.deployment);
  }

  async writeDeployment(deployment: Deployment): Promise<void> {
    const { context, deployments, writes } = this.deps;
    this.deployment = await context.client.update(deploymentType, deployment);
    writes.record(this.key, deployments, this.deployment);
  }

  async writeReplicaSet(replicaSet: ReplicaSet): Promise<ReplicaSet> {
    const { context, replicaSets, writes } = this.deps;
    const written = await context.client.update(replicaSetType, replicaSet);
    writes.record(this.key, replicaSets, written);
    return written;
  }

  event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.deps.events.record(this.deployment, type, reason, message);
  }
}
