/** What each type of metric in an autoscaler's spec asks for. */
import type {
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '../../../api/generated/autoscaling-v2.ts';
import type { Client } from '../../../machinery/runtime/index.ts';
import { formatNanos, parseMillis } from '../../../machinery/values/index.ts';
import { recommendByAmount } from './amount.ts';
import { type NamedMetric, readExternalMetric, readObjectMetric, readPodsMetric, readUsage } from './metrics.ts';
import { recommendByUsage, type UsageQuestion, type UsageVerdict } from './usage.ts';

export interface SourceQuestion extends Pick<UsageQuestion, 'pods' | 'currentReplicas' | 'tolerance' | 'now'> {
  readonly namespace: string;
  readonly labelSelector: string;
  /** What `status.replicas` of the scale says. */
  readonly observedReplicas: number;
}

export interface MetricAnswer {
  readonly replicas: number;
  /** As conditions and events name it. */
  readonly metric: string;
  readonly status: MetricStatus;
}

/** A metric that has no say. `why` goes into the condition and the event, the message also says of what. */
export class MetricFailure extends Error {
  override name = 'MetricFailure';
  readonly reason: string;
  readonly why: string;

  constructor(reason: string, { what, why }: { what: string; why: string }) {
    super(what === '' ? why : `failed to get ${what}: ${why}`);
    this.reason = reason;
    this.why = why;
  }
}

type Source = (client: Client, metric: MetricSpec, question: SourceQuestion) => Promise<MetricAnswer>;

export const sources: Readonly<Record<string, Source>> = {
  Resource: (client, { resource }, question) => {
    const { name, target } = resource ?? { name: '', target: { type: '' } };
    return byUse(client, question, {
      reason: 'FailedGetResourceMetric',
      what: `${name} resource metric value`,
      resource: name,
      target,
      label: `${name} resource utilization (percentage of request)`,
      status: (current) => ({ type: 'Resource', resource: { name, current } }),
    });
  },
  ContainerResource: (client, { containerResource }, question) => {
    const { container, name, target } = containerResource ?? { name: '', container: '', target: { type: '' } };
    return byUse(client, question, {
      reason: 'FailedGetContainerResourceMetric',
      what: `${container} container metric value`,
      resource: name,
      container,
      target,
      label: `${name} container resource utilization (percentage of request)`,
      status: (current) => ({ type: 'ContainerResource', containerResource: { name, container, current } }),
    });
  },
  Pods: async (client, { pods }, question) => {
    const { metric, target } = pods ?? { metric: { name: '' }, target: { type: '' } };
    const failed = failing('FailedGetPodsMetric', 'pods metric value');
    const measured = await readPodsMetric(client, metric, question).catch((error: unknown) => {
      throw failed(`unable to get metric ${metric.name}: ${messageOf(error)}`);
    });
    const averageMillis = parseMillis(target.averageValue ?? '0');
    const verdict = recommendByUsage({ ...question, measured, resource: '', target: { averageMillis } });
    if (!verdict.ok) throw failed(verdict.message);
    const status: MetricStatus = {
      type: 'Pods',
      pods: { metric: identifier(metric), current: { averageValue: quantity(verdict.averageMillis) } },
    };
    return { replicas: verdict.replicas, metric: `pods metric ${metric.name}`, status };
  },
  Object: async (client, { object }, question) => {
    const { describedObject, metric, target } = object ?? {
      describedObject: { kind: '', name: '' },
      metric: { name: '' },
      target: { type: '' },
    };
    const failed = failing('FailedGetObjectMetric', 'object metric value');
    const { namespace } = question;
    const subject = { namespace, object: describedObject };
    const amountMillis = await readObjectMetric(client, metric, subject).catch((error: unknown) => {
      const where = `${describedObject.kind} ${namespace}/${describedObject.name}`;
      throw failed(`unable to get metric ${metric.name}: ${messageOf(error)} on ${where}`);
    });
    const { current, isShare, replicas } = byAmount(amountMillis, target, question, failed);
    return {
      replicas,
      metric: isShare ? `external metric ${goName(metric)}` : `${describedObject.kind} metric ${metric.name}`,
      status: { type: 'Object', object: { describedObject, metric: identifier(metric), current } },
    };
  },
  External: async (client, { external }, question) => {
    const { metric, target } = external ?? { metric: { name: '' }, target: { type: '' } };
    const failed = failing('FailedGetExternalMetric', `${metric.name} external metric value`);
    const { namespace } = question;
    const amountMillis = await readExternalMetric(client, metric, namespace).catch((error: unknown) => {
      const which = `${namespace}/${metric.name}/${goSelector(metric)}`;
      throw failed(`unable to get external metric ${which}: ${messageOf(error)}`);
    });
    const { current, replicas } = byAmount(amountMillis, target, question, failed);
    return {
      replicas,
      metric: `external metric ${goName(metric)}`,
      status: { type: 'External', external: { metric: identifier(metric), current } },
    };
  },
};

interface Use extends Pick<UsageQuestion, 'resource' | 'container'> {
  readonly reason: string;
  readonly what: string;
  readonly target: MetricTarget;
  readonly label: string;
  readonly status: (current: MetricValueStatus) => MetricStatus;
}

async function byUse(client: Client, question: SourceQuestion, use: Use): Promise<MetricAnswer> {
  const { container, resource, target } = use;
  const failed = failing(use.reason, use.what);
  const goal = useTarget(target);
  if (goal === undefined) {
    throw failed(
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
    );
  }
  const kind = 'utilization' in goal ? 'utilization' : 'usage';
  let verdict: UsageVerdict;
  try {
    const measured = await readUsage(client, { ...question, resource, container });
    verdict = recommendByUsage({ ...question, measured, resource, container, target: goal });
  } catch (error) {
    throw failed(
      `failed to get ${resource} ${kind}: unable to get metrics for resource ${resource}: ${messageOf(error)}`,
    );
  }
  if (!verdict.ok) throw failed(`failed to get ${resource} ${kind}: ${verdict.message}`);
  const { averageMillis, replicas, utilization } = verdict;
  const current = {
    averageValue: quantity(averageMillis),
    ...(utilization === undefined ? {} : { averageUtilization: utilization }),
  };
  return {
    replicas,
    metric: utilization === undefined ? `${resource} resource` : use.label,
    status: use.status(current),
  };
}

function useTarget({ averageUtilization, averageValue }: MetricTarget): UsageQuestion['target'] | undefined {
  if (averageValue !== undefined) return { averageMillis: parseMillis(averageValue) };
  return averageUtilization === undefined ? undefined : { utilization: averageUtilization };
}

function byAmount(
  amountMillis: number,
  { averageValue, value }: MetricTarget,
  question: SourceQuestion,
  failed: (why: string) => MetricFailure,
): { replicas: number; isShare: boolean; current: MetricValueStatus } {
  const isShare = averageValue !== undefined;
  const wanted = averageValue ?? value;
  if (wanted === undefined) {
    throw failed('invalid metric source: neither a value target nor an average value target was set');
  }
  const goal = parseMillis(wanted);
  const target = isShare ? { perPodMillis: goal } : { totalMillis: goal };
  const verdict = recommendByAmount({ ...question, amountMillis, target });
  if (!verdict.ok) throw failed(verdict.message);
  const shown = quantity(verdict.shownMillis);
  return { replicas: verdict.replicas, isShare, current: isShare ? { averageValue: shown } : { value: shown } };
}

const failing =
  (reason: string, what: string) =>
  (why: string): MetricFailure =>
    new MetricFailure(reason, { what, why });

const identifier = ({ name, selector }: NamedMetric) => ({ name, ...(selector === undefined ? {} : { selector }) });

const quantity = (millis: number): string => formatNanos(BigInt(millis) * 1_000_000n);

const goName = (metric: NamedMetric): string => `${metric.name}(${goSelector(metric)})`;

/** The way Kubernetes prints a selector in these messages. */
function goSelector({ selector }: NamedMetric): string {
  if (selector === undefined) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const pairs = labels.map(([name, value]) => `${name}: ${value},`).join('');
  const expressions = (selector.matchExpressions ?? [])
    .map(
      ({ key, operator, values = [] }) =>
        `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
    )
    .join('');
  return `&LabelSelector{MatchLabels:map[string]string{${pairs}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
