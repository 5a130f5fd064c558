/** LimitRanges: default requests and limits for containers, and bounds for containers, pods and claims. */
import type { Container, LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod } from '../../api/generated/core-v1.ts';
import { type Amounts, podResources } from '../../decisions/quota/index.ts';
import { canonicalQuantity, compareQuantities, parseNanos } from '../../machinery/values/index.ts';
import { type AdmissionAttributes, type AdmissionPlugin, refusedName } from '../context/admission-plugin.ts';
import { forbidden } from '../exchange/status.ts';
import { listStored, type StoredReads } from '../stored/kind-view.ts';
import { isPodCreate, podOf } from './pods.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';
const TYPE = { group: '', plural: 'limitranges' };

const isClaimWrite = ({ resource, operation, subresource, oldObject }: AdmissionAttributes): boolean =>
  resource.group === '' &&
  resource.plural === 'persistentvolumeclaims' &&
  (operation === 'CREATE' || operation === 'UPDATE') &&
  subresource === undefined &&
  !oldObject?.metadata.deletionTimestamp;

const isPodResize = ({ resource, operation, subresource }: AdmissionAttributes): boolean =>
  resource.group === '' && resource.plural === 'pods' && operation === 'UPDATE' && subresource === 'resize';

export function limitRanger(reads: StoredReads): AdmissionPlugin {
  const limitsIn = (namespace: string | undefined): LimitRangeItem[] =>
    listStored<LimitRange>(reads, TYPE, namespace).flatMap(({ spec }) => spec?.limits ?? []);
  return {
    name: 'LimitRanger',
    handles: (attributes) => isPodCreate(attributes) || isPodResize(attributes) || isClaimWrite(attributes),
    admit(attributes) {
      if (!isPodCreate(attributes)) return;
      for (const { spec } of listStored<LimitRange>(reads, TYPE, attributes.namespace)) {
        applyDefaults(podOf(attributes), spec?.limits ?? []);
      }
    },
    validate(attributes) {
      const problems = isClaimWrite(attributes)
        ? claimProblems(attributes.object as PersistentVolumeClaim, limitsIn(attributes.namespace))
        : podProblems(podOf(attributes), limitsIn(attributes.namespace));
      if (problems.length === 0) return;
      const why = problems.length === 1 ? (problems[0] as string) : `[${[...new Set(problems)].join(', ')}]`;
      throw forbidden(attributes.resource, refusedName(attributes), why);
    },
  };
}

function applyDefaults(pod: Pod, limits: readonly LimitRangeItem[]): void {
  const requests: Record<string, string | number> = {};
  const maxima: Record<string, string | number> = {};
  for (const item of limits) {
    if (item.type !== 'Container') continue;
    Object.assign(requests, item.defaultRequest);
    Object.assign(maxima, item.default);
  }
  const notes: string[] = [];
  const fill = (container: Container, what: string): void => {
    const resources = (container.resources ??= {});
    const setLimits = missing(resources.limits, maxima);
    const setRequests = missing(resources.requests, requests);
    if (setLimits.length > 0) resources.limits = { ...pick(maxima, setLimits), ...resources.limits };
    if (setRequests.length > 0) resources.requests = { ...pick(requests, setRequests), ...resources.requests };
    if (setRequests.length > 0) notes.push(`${setRequests.join(', ')} request for ${what} ${container.name}`);
    if (setLimits.length > 0) notes.push(`${setLimits.join(', ')} limit for ${what} ${container.name}`);
  };
  for (const container of pod.spec?.containers ?? []) fill(container, 'container');
  for (const container of pod.spec?.initContainers ?? []) fill(container, 'init container');
  if (notes.length === 0) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}`,
  };
}

const missing = (held: Amounts | undefined, wanted: Amounts): string[] =>
  Object.keys(wanted)
    .filter((name) => held?.[name] === undefined)
    .sort();

const pick = (from: Amounts, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, String(from[name])]));

function podProblems(pod: Pod, limits: readonly LimitRangeItem[]): string[] {
  const problems: string[] = [];
  for (const item of limits) {
    if (item.type === 'Container') {
      for (const { resources } of [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]) {
        problems.push(...bounds(item, resources?.requests ?? {}, resources?.limits ?? {}));
      }
    }
    if (item.type === 'Pod') {
      problems.push(...bounds(item, podResources(pod, 'requests'), podResources(pod, 'limits')));
    }
  }
  return problems;
}

function claimProblems(claim: PersistentVolumeClaim, limits: readonly LimitRangeItem[]): string[] {
  const requests = claim.spec?.resources?.requests ?? {};
  const problems: string[] = [];
  for (const item of limits) {
    if (item.type !== 'PersistentVolumeClaim') continue;
    for (const [name, least] of Object.entries(item.min ?? {}))
      problems.push(...tooLittle(item, name, least, requests, {}));
    for (const [name, most] of Object.entries(item.max ?? {})) {
      const head = `maximum ${name} usage per ${item.type} is ${canonicalQuantity(most)}`;
      const asked = requests[name];
      if (asked === undefined) problems.push(`${head}.  No request is specified`);
      else if (compareQuantities(asked, most) > 0) problems.push(`${head}, but request is ${canonicalQuantity(asked)}`);
    }
  }
  return problems;
}

function bounds(item: LimitRangeItem, requests: Amounts, limits: Amounts): string[] {
  return [
    ...Object.entries(item.min ?? {}).flatMap(([name, least]) => tooLittle(item, name, least, requests, limits)),
    ...Object.entries(item.max ?? {}).flatMap(([name, most]) => tooMuch(item, name, most, requests, limits)),
    ...Object.entries(item.maxLimitRequestRatio ?? {}).flatMap(([name, ratio]) =>
      tooFarApart(item, name, ratio, requests, limits),
    ),
  ];
}

type Bound = string | number;

function tooLittle(item: LimitRangeItem, name: string, least: Bound, requests: Amounts, limits: Amounts): string[] {
  const head = `minimum ${name} usage per ${item.type} is ${canonicalQuantity(least)}`;
  const [request, limit] = [requests[name], limits[name]];
  if (request === undefined) return [`${head}.  No request is specified`];
  if (compareQuantities(request, least) < 0) return [`${head}, but request is ${canonicalQuantity(request)}`];
  if (limit !== undefined && compareQuantities(limit, least) < 0)
    return [`${head}, but limit is ${canonicalQuantity(limit)}`];
  return [];
}

function tooMuch(item: LimitRangeItem, name: string, most: Bound, requests: Amounts, limits: Amounts): string[] {
  const head = `maximum ${name} usage per ${item.type} is ${canonicalQuantity(most)}`;
  const [request, limit] = [requests[name], limits[name]];
  if (limit === undefined) return [`${head}.  No limit is specified`];
  if (compareQuantities(limit, most) > 0) return [`${head}, but limit is ${canonicalQuantity(limit)}`];
  if (request !== undefined && compareQuantities(request, most) > 0) {
    return [`${head}, but request is ${canonicalQuantity(request)}`];
  }
  return [];
}

function tooFarApart(item: LimitRangeItem, name: string, ratio: Bound, requests: Amounts, limits: Amounts): string[] {
  const head = `${name} max limit to request ratio per ${item.type} is ${canonicalQuantity(ratio)}`;
  const request = parseNanos(requests[name] ?? 0);
  const limit = parseNanos(limits[name] ?? 0);
  if (request === 0n) return [`${head}, but no request is specified or request is 0`];
  if (limit === 0n) return [`${head}, but no limit is specified or limit is 0`];
  if (limit * 1_000_000_000n <= parseNanos(ratio) * request) return [];
  return [`${head}, but provided ratio is ${(Number(limit) / Number(request)).toFixed(6)}`];
}
