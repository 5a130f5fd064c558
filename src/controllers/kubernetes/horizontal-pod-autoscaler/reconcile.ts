import { effectiveRules } from '../../../api/autoscaling/index.ts';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerStatus,
  MetricStatus,
} from '../../../api/generated/autoscaling-v2.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { formatKey, type ObjectKey } from '../../../api/resource.ts';
import { horizontalPodAutoscalerType } from '../../../api/resource-types.ts';
import {
  type ControllerContext,
  type EventRecorder,
  type Informer,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import { deepEqual, formatTime, parseNanos } from '../../../machinery/values/index.ts';
import { decidePace, emptyHistory, type ScalingHistory, remember } from './pace.ts';
import { recommend } from './recommend.ts';
import { readScale, type ScaleTarget, writeScale } from './scale-target.ts';
import type { TargetSelectors } from './target-pods.ts';

export interface AutoscalerDeps {
  readonly context: ControllerContext;
  readonly autoscalers: Informer<HorizontalPodAutoscaler>;
  readonly pods: Informer<Pod>;
  readonly events: EventRecorder;
  /** Per key; lost with the process, as recommendations are. */
  readonly histories: Map<string, ScalingHistory>;
  readonly selectors: TargetSelectors;
}

export const SYNC_PERIOD_MS = 15_000;
const TOLERANCE = 0.1;

/** Looks at one autoscaler's metrics and moves its target's size, at most as fast as its behaviour allows. */
export async function reconcileAutoscaler(deps: AutoscalerDeps, objectKey: ObjectKey): Promise<ReconcileResult> {
  const autoscaler = deps.autoscalers.get(objectKey);
  const key = formatKey(objectKey);
  if (autoscaler === undefined || autoscaler.metadata.deletionTimestamp) {
    deps.histories.delete(key);
    deps.selectors.forget(objectKey);
    return settled;
  }
  const pass = new AutoscalerPass(deps, autoscaler, key);
  await pass.run();
  return { requeueAfterMs: SYNC_PERIOD_MS };
}

type ConditionNews = Pick<HorizontalPodAutoscalerCondition, 'type' | 'status' | 'reason' | 'message'>;

class AutoscalerPass {
  readonly #deps: AutoscalerDeps;
  readonly #autoscaler: HorizontalPodAutoscaler;
  readonly #key: string;
  readonly #now: number;
  #conditions: HorizontalPodAutoscalerCondition[];

  constructor(deps: AutoscalerDeps, autoscaler: HorizontalPodAutoscaler, key: string) {
    this.#deps = deps;
    this.#autoscaler = autoscaler;
    this.#key = key;
    this.#now = deps.context.clock.now();
    this.#conditions = [...(autoscaler.status?.conditions ?? [])];
  }

  async run(): Promise<void> {
    const { metadata, spec } = this.#autoscaler;
    if (spec === undefined) return;
    let target: ScaleTarget;
    try {
      target = await readScale(this.#deps.context.client, spec.scaleTargetRef, metadata.namespace ?? '');
    } catch (error) {
      const text = messageOf(error);
      this.#event('Warning', 'FailedGetScale', text);
      const message = `the HPA controller was unable to get the target's current scale: ${text}`;
      this.#set({ type: 'AbleToScale', status: 'False', reason: 'FailedGetScale', message });
      await this.#write({});
      return;
    }
    const message = "the HPA controller was able to get the target's current scale";
    this.#set({ type: 'AbleToScale', status: 'True', reason: 'SucceededGetScale', message });
    const current = target.scale.spec?.replicas ?? 0;
    if (!this.#deps.histories.has(this.#key)) this.#remember({ recommended: current });
    const decision = await this.#decide(target, current);
    if (decision === undefined) return;
    await this.#carryOut(target, current, decision);
  }

  async #decide(target: ScaleTarget, current: number): Promise<Decision | undefined> {
    const spec = this.#autoscaler.spec as NonNullable<HorizontalPodAutoscaler['spec']>;
    const { maxReplicas: max, minReplicas: min = 1 } = spec;
    if (current === 0) {
      const message = 'scaling is disabled since the replica count of the target is zero';
      this.#set({ type: 'ScalingActive', status: 'False', reason: 'ScalingDisabled', message });
      return { replicas: 0, why: '', statuses: [] };
    }
    if (current > max) return { replicas: max, why: 'Current number of replicas above Spec.MaxReplicas', statuses: [] };
    if (current < min) return { replicas: min, why: 'Current number of replicas below Spec.MinReplicas', statuses: [] };
    const labelSelector = target.scale.status?.selector ?? '';
    const { name = '', namespace = '' } = this.#autoscaler.metadata;
    const { context, pods, selectors } = this.#deps;
    const found = selectors.find({ namespace, name }, labelSelector, (selector) => pods.select(namespace, selector));
    if (!found.ok) {
      const { event, message, reason, text } = found;
      this.#event('Warning', event, text);
      this.#set({ type: 'ScalingActive', status: 'False', reason, message });
      this.#event('Warning', 'FailedComputeMetricsReplicas', text);
      await this.#write({ currentReplicas: current });
      return undefined;
    }
    const recommendation = await recommend(context.client, {
      metrics: spec.metrics ?? [],
      namespace,
      labelSelector,
      pods: found.pods,
      currentReplicas: current,
      observedReplicas: target.scale.status?.replicas ?? 0,
      tolerance: toleranceOf(spec.behavior),
      now: this.#now,
    });
    for (const { reason, why } of recommendation.failures) this.#event('Warning', reason, why);
    if (!recommendation.ok) {
      const { first, message, statuses } = recommendation;
      this.#set({
        type: 'ScalingActive',
        status: 'False',
        reason: first.reason,
        message: `the HPA was unable to compute the replica count: ${first.why}`,
      });
      this.#event('Warning', 'FailedComputeMetricsReplicas', message);
      await this.#write({ currentReplicas: current, statuses });
      return undefined;
    }
    const { metric, replicas: recommended, statuses } = recommendation;
    const message = `the HPA was able to successfully calculate a replica count from ${metric}`;
    this.#set({ type: 'ScalingActive', status: 'True', reason: 'ValidMetricFound', message });
    const replicas = this.#pace({ current, recommended, min, max });
    const why = recommended > current ? `${metric} above target` : 'All metrics below target';
    return { replicas, why, statuses };
  }

  #pace(wish: { current: number; recommended: number; min: number; max: number }): number {
    const behavior = this.#autoscaler.spec?.behavior;
    const verdict = decidePace({
      ...wish,
      up: effectiveRules(behavior?.scaleUp, 'up'),
      down: effectiveRules(behavior?.scaleDown, 'down'),
      history: this.#deps.histories.get(this.#key) ?? emptyHistory,
      now: this.#now,
    });
    this.#remember({ recommended: wish.recommended });
    this.#set(
      verdict.stabilized === undefined
        ? {
            type: 'AbleToScale',
            status: 'True',
            reason: 'ReadyForNewScale',
            message: 'recommended size matches current size',
          }
        : {
            type: 'AbleToScale',
            status: 'True',
            reason: verdict.stabilized,
            message: 'recent recommendations hold the current size',
          },
    );
    this.#set({
      type: 'ScalingLimited',
      status: verdict.limited ? 'True' : 'False',
      reason: verdict.reason,
      message: LIMIT_TEXT[verdict.reason],
    });
    return verdict.replicas;
  }

  async #carryOut(target: ScaleTarget, current: number, { replicas, statuses, why }: Decision): Promise<void> {
    if (replicas === current) {
      await this.#write({ currentReplicas: current, desiredReplicas: current, statuses });
      return;
    }
    try {
      await writeScale(this.#deps.context.client, target, replicas);
    } catch (error) {
      const text = messageOf(error);
      this.#event('Warning', 'FailedRescale', `New size: ${replicas}; reason: ${why}; error: ${text}`);
      const message = `the HPA controller was unable to update the target scale: ${text}`;
      this.#set({ type: 'AbleToScale', status: 'False', reason: 'FailedUpdateScale', message });
      await this.#write({ currentReplicas: current, statuses });
      return;
    }
    const message = `the HPA controller was able to update the target scale to ${replicas}`;
    this.#set({ type: 'AbleToScale', status: 'True', reason: 'SucceededRescale', message });
    this.#event('Normal', 'SuccessfulRescale', `New size: ${replicas}; reason: ${why}`);
    this.#remember({ change: replicas - current });
    await this.#write({ currentReplicas: current, desiredReplicas: replicas, statuses, rescaled: true });
  }

  #remember(news: { recommended?: number; change?: number }): void {
    const { histories } = this.#deps;
    histories.set(this.#key, remember(histories.get(this.#key) ?? emptyHistory, this.#now, news));
  }

  #event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#deps.events.record(this.#autoscaler, type, reason, message);
  }

  /** The transition time moves only with the status. */
  #set(news: ConditionNews): void {
    const known = this.#conditions.find(({ type }) => type === news.type);
    const since = known?.status === news.status ? known.lastTransitionTime : formatTime(this.#now);
    const next = { ...news, lastTransitionTime: since };
    this.#conditions =
      known === undefined
        ? [...this.#conditions, next]
        : this.#conditions.map((condition) => (condition === known ? next : condition));
  }

  async #write(news: StatusNews): Promise<void> {
    const { metadata, status: old } = this.#autoscaler;
    const { currentReplicas = old?.currentReplicas ?? 0, rescaled = false, statuses } = news;
    const currentMetrics = statuses ?? old?.currentMetrics;
    const lastScaleTime = rescaled ? formatTime(this.#now) : old?.lastScaleTime;
    const status: HorizontalPodAutoscalerStatus = {
      ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
      ...(lastScaleTime === undefined ? {} : { lastScaleTime }),
      ...(currentReplicas === 0 ? {} : { currentReplicas }),
      desiredReplicas: news.desiredReplicas ?? old?.desiredReplicas ?? 0,
      ...(currentMetrics === undefined || currentMetrics.length === 0 ? {} : { currentMetrics: [...currentMetrics] }),
      conditions: this.#conditions,
    };
    if (deepEqual(old, status)) return;
    await this.#deps.context.client.updateStatus(horizontalPodAutoscalerType, { ...this.#autoscaler, status });
  }
}

/** How far the ratio of use to target may be off without a change, in each direction. */
function toleranceOf(behavior: HorizontalPodAutoscalerBehavior | undefined): { up: number; down: number } {
  const parse = (quantity: string | undefined): number =>
    quantity === undefined ? TOLERANCE : Number(parseNanos(quantity)) / 1e9;
  return { up: parse(behavior?.scaleUp?.tolerance), down: parse(behavior?.scaleDown?.tolerance) };
}

interface Decision {
  readonly replicas: number;
  readonly why: string;
  readonly statuses: readonly MetricStatus[];
}

interface StatusNews {
  readonly currentReplicas?: number;
  readonly desiredReplicas?: number;
  readonly statuses?: readonly MetricStatus[];
  readonly rescaled?: boolean;
}

const LIMIT_TEXT = {
  DesiredWithinRange: 'the desired count is within the acceptable range',
  ScaleUpLimit: 'the desired replica count is increasing faster than the maximum scale rate',
  TooManyReplicas: 'the desired replica count is more than the maximum replica count',
  ScaleDownLimit: 'the desired replica count is decreasing faster than the maximum scale rate',
  TooFewReplicas: 'the desired replica count is less than the minimum replica count',
} as const;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
