import type { CrossVersionObjectReference } from '../../../api/generated/autoscaling-v2.ts';
import type { LabelSelector } from '../../../api/generated/meta-v1.ts';
import type { Client } from '../../../machinery/runtime/index.ts';
import {
  formatSelector,
  fromLabelSelector,
  parseDurationMs,
  parseMillis,
  parseTime,
} from '../../../machinery/values/index.ts';
import { resourceOf } from './scale-target.ts';
import type { Measured } from './usage.ts';

interface PodMetrics {
  readonly metadata: { readonly name?: string };
  readonly timestamp?: string;
  readonly window?: string;
  readonly containers?: readonly { readonly name: string; readonly usage?: Readonly<Record<string, string>> }[];
}

export interface MetricsQuestion {
  readonly namespace: string;
  readonly labelSelector: string;
  readonly resource: string;
  readonly container?: string | undefined;
}

/** What the resource metrics API knows of the selected pods. A pod with an unmeasured container is left out. */
export async function readUsage(client: Client, question: MetricsQuestion): Promise<Map<string, Measured>> {
  const { container, labelSelector, namespace, resource } = question;
  const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${encodeURIComponent(namespace)}/pods`;
  const query = `?labelSelector=${encodeURIComponent(labelSelector)}`;
  const { items = [] } = await client.request<{ items?: readonly PodMetrics[] }>('GET', path + query);
  const measured = new Map<string, Measured>();
  for (const { containers = [], metadata, timestamp, window } of items) {
    const counted = containers.filter(({ name }) => container === undefined || name === container);
    const values = counted.map(({ usage }) => usage?.[resource]);
    if (values.length === 0 || values.some((value) => value === undefined)) continue;
    measured.set(metadata.name ?? '', {
      value: values.reduce((total, value) => total + parseMillis(value as string), 0),
      at: parseTime(timestamp) ?? 0,
      windowMs: parseDurationMs(window ?? '') ?? 0,
    });
  }
  return measured;
}

export interface NamedMetric {
  readonly name: string;
  readonly selector?: LabelSelector | undefined;
}

interface MetricValue {
  readonly describedObject?: { readonly name?: string };
  readonly timestamp?: string;
  readonly windowSeconds?: number;
  readonly value: string;
}

const DEFAULT_WINDOW_SECONDS = 60;

/** What the custom metrics API knows of the selected pods. */
export async function readPodsMetric(
  client: Client,
  metric: NamedMetric,
  { labelSelector, namespace }: { namespace: string; labelSelector: string },
): Promise<Map<string, Measured>> {
  const items = await customMetric(client, metric, { namespace, of: 'pods', name: '*', labelSelector });
  if (items.length === 0) throw new Error('no metrics returned from custom metrics API');
  return new Map(
    items.map(({ describedObject, timestamp, value, windowSeconds = DEFAULT_WINDOW_SECONDS }) => [
      describedObject?.name ?? '',
      { value: parseMillis(value), at: parseTime(timestamp) ?? 0, windowMs: windowSeconds * 1000 },
    ]),
  );
}

/** What the custom metrics API knows of one object, in thousandths. */
export async function readObjectMetric(
  client: Client,
  metric: NamedMetric,
  { namespace, object }: { namespace: string; object: CrossVersionObjectReference },
): Promise<number> {
  // A namespace has no way to name another one here.
  const isNamespace = object.kind === 'Namespace' && (object.apiVersion ?? 'v1') === 'v1';
  const of = isNamespace ? undefined : await resourceOf(client, object);
  const items = await customMetric(client, metric, {
    namespace,
    of: of === undefined ? 'metrics' : of.group === '' ? of.plural : `${of.plural}.${of.group}`,
    name: isNamespace ? undefined : object.name,
  });
  const [first] = items;
  if (first === undefined) throw new Error('no metrics returned from custom metrics API');
  return parseMillis(first.value);
}

async function customMetric(
  client: Client,
  metric: NamedMetric,
  {
    labelSelector,
    name,
    namespace,
    of,
  }: { namespace: string; of: string; name?: string | undefined; labelSelector?: string },
): Promise<readonly MetricValue[]> {
  const query = new URLSearchParams();
  if (labelSelector !== undefined) query.set('labelSelector', labelSelector);
  const labels = metricSelector(metric);
  if (labels !== '') query.set('metricLabelSelector', labels);
  const path = [namespace, of, name, metric.name].filter((part) => part !== undefined).map(segment);
  const url = `/apis/custom.metrics.k8s.io/v1beta2/namespaces/${path.join('/')}?${query.toString()}`;
  return read(client, url, 'custom');
}

/** What the external metrics API knows under a name, in thousandths and all together. */
export async function readExternalMetric(client: Client, metric: NamedMetric, namespace: string): Promise<number> {
  const query = new URLSearchParams();
  const labels = metricSelector(metric);
  if (labels !== '') query.set('labelSelector', labels);
  const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${segment(namespace)}/${segment(metric.name)}`;
  const items = await read(client, `${path}?${query.toString()}`, 'external');
  if (items.length === 0) throw new Error('no metrics returned from external metrics API');
  return items.reduce((total, { value }) => total + parseMillis(value), 0);
}

async function read(client: Client, url: string, api: 'custom' | 'external'): Promise<readonly MetricValue[]> {
  try {
    return (await client.request<{ items?: readonly MetricValue[] }>('GET', url)).items ?? [];
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`unable to fetch metrics from ${api} metrics API: ${text}`, { cause: error });
  }
}

const segment = (text: string | undefined): string => (text === '*' ? '*' : encodeURIComponent(text ?? ''));

/** A metric without selector is any of its name. */
const metricSelector = ({ selector }: NamedMetric): string =>
  selector === undefined ? '' : formatSelector(fromLabelSelector(selector));
