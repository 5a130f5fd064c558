/**
 * `custom.metrics.k8s.io` and `external.metrics.k8s.io`: measurements that users set by hand, as a simulation has no
 * other source. Of an object, its annotation `metrics.quorate.dev/<metric>`; from outside the cluster, the data of
 * ConfigMaps labelled `metrics.quorate.dev/external`, whose other labels are those of the measurement.
 */
import { formatTime, isQuantity, matches, parseSelector } from '../../../machinery/values/index.ts';
import type { ApiRequest, ApiResponse } from '../../exchange/exchange.ts';
import type { ServerContext } from '../../context/server-context.ts';
import type { ApiObject } from '../../exchange/object.ts';
import { apiVersion, collectionPrefix, objectKey, type Resource } from '../../registry/resource.ts';
import type { ResourceRequest } from '../../request/info.ts';
import { jsonResponse } from '../../response/respond.ts';
import { badRequest, failure, methodNotAllowed, noSuchResource } from '../../exchange/status.ts';

const CUSTOM = 'custom.metrics.k8s.io';
const EXTERNAL = 'external.metrics.k8s.io';
/** Before the name of a metric in an annotation. */
const PREFIX = 'metrics.quorate.dev/';
const EXTERNAL_LABEL = `${PREFIX}external`;

/** Groups whose resources are not known beforehand: every metric is one. */
export const metricGroups: readonly { readonly group: string; readonly versions: readonly string[] }[] = [
  { group: CUSTOM, versions: ['v1beta2', 'v1beta1'] },
  { group: EXTERNAL, versions: ['v1beta1'] },
];

/** Answers a request for measurements; undefined when it asks for something else. */
export function answerMetrics(
  context: ServerContext,
  request: ApiRequest,
  info: ResourceRequest,
): ApiResponse | undefined {
  const served = metricGroups.find(({ group }) => group === info.group);
  if (served === undefined || !served.versions.includes(info.version)) return undefined;
  if (info.verb !== 'get' && info.verb !== 'list') throw methodNotAllowed();
  const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
  return jsonResponse(200, info.group === EXTERNAL ? external(context, info, query) : custom(context, info, query));
}

function custom(context: ServerContext, info: ResourceRequest, query: URLSearchParams): object {
  const { describes, metric, name, namespace } = subjectOf(info);
  const [plural = '', ...group] = describes.split('.');
  const resource = context.registry.byPlural(group.join('.'), plural);
  if (resource === undefined || resource.namespaced !== (namespace !== undefined)) throw noSuchResource();
  const objects =
    name === '*' ? selected(context, resource, { namespace, query }) : one(context, resource, { namespace, name });
  // These measurements have no labels of their own.
  const wanted = matches(selectorIn(query, 'metricLabelSelector'), {});
  const measured = objects.flatMap((object) => {
    const value = wanted && isMeasured(resource, object) ? object.metadata.annotations?.[PREFIX + metric] : undefined;
    return value !== undefined && isQuantity(value) ? [{ object, value }] : [];
  });
  if (name !== '*' && measured.length === 0) {
    throw failure(404, 'NotFound', `the server could not find the metric ${metric} for ${describes} ${name}`);
  }
  const timestamp = formatTime(context.clock.now());
  const items = measured.map(({ object: { metadata }, value }) => ({
    describedObject: {
      kind: resource.kind,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      name: metadata.name,
      apiVersion: apiVersion(resource.group, resource.versions[0]?.name ?? 'v1'),
    },
    ...(info.version === 'v1beta1' ? { metricName: metric } : { metric: { name: metric, selector: null } }),
    timestamp,
    value,
    ...(info.version === 'v1beta1' ? { selector: null } : {}),
  }));
  return { kind: 'MetricValueList', apiVersion: `${CUSTOM}/${info.version}`, metadata: {}, items };
}

/** `namespaces/a/metrics/m` tells of the namespace itself; other paths name a resource, an object and a metric. */
function subjectOf({ name = '', namespace, plural, subresource }: ResourceRequest) {
  if (plural === 'metrics' && namespace !== undefined && subresource === undefined) {
    return { describes: 'namespaces', name: namespace, metric: name, namespace: undefined };
  }
  if (subresource === undefined) throw noSuchResource();
  return { describes: plural, name, metric: subresource, namespace };
}

/** Nobody measures a pod that does not run. */
function isMeasured(resource: Resource, object: ApiObject): boolean {
  return (
    resource.group !== '' || resource.kind !== 'Pod' || (object['status'] as { phase?: string })?.phase === 'Running'
  );
}

function one(
  context: ServerContext,
  resource: Resource,
  key: { namespace: string | undefined; name: string },
): ApiObject[] {
  const entry = context.store.get(objectKey(resource, key.namespace, key.name));
  return entry === undefined ? [] : [context.objects.readWithoutManagedFields(entry)];
}

function selected(
  context: ServerContext,
  resource: Resource,
  { namespace, query }: { namespace: string | undefined; query: URLSearchParams },
): ApiObject[] {
  const selector = selectorIn(query, 'labelSelector');
  return context.store
    .range(collectionPrefix(resource, namespace))
    .map((entry) => context.objects.readWithoutManagedFields(entry))
    .filter(({ metadata }) => matches(selector, metadata.labels));
}

function external(
  context: ServerContext,
  { namespace, plural: metric }: ResourceRequest,
  query: URLSearchParams,
): object {
  const resource = context.registry.byPlural('', 'configmaps');
  if (resource === undefined || namespace === undefined) throw noSuchResource();
  const selector = selectorIn(query, 'labelSelector');
  const timestamp = formatTime(context.clock.now());
  const items = context.store.range(collectionPrefix(resource, namespace)).flatMap((entry) => {
    const { metadata, ...rest } = context.objects.readWithoutManagedFields(entry);
    const { [EXTERNAL_LABEL]: mark, ...metricLabels } = metadata.labels ?? {};
    const value = (rest['data'] as Readonly<Record<string, string>> | undefined)?.[metric];
    if (mark === undefined || value === undefined || !isQuantity(value) || !matches(selector, metricLabels)) return [];
    return [{ metricName: metric, metricLabels, timestamp, value }];
  });
  return { kind: 'ExternalMetricValueList', apiVersion: `${EXTERNAL}/v1beta1`, metadata: {}, items };
}

function selectorIn(query: URLSearchParams, option: string) {
  const text = query.get(option) ?? '';
  try {
    return parseSelector(text);
  } catch (error) {
    throw badRequest(`unable to parse ${option}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
