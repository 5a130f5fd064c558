import type { Client } from '../../machinery/runtime/index.ts';
import { parseDurationMs, parseMillis, parseTime } from '../../machinery/values/index.ts';
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
