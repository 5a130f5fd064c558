/** The rules every object's metadata follows, whatever its kind. */
import {
  checkDnsSubdomain,
  checkQualifiedName,
  FieldPath,
  forbidden,
  formatTime,
  type Issue,
  invalid,
  required,
  semanticEqual,
  validateAnnotations,
  validateLabels,
} from '../../machinery/values/index.ts';
import type { ApiObject, ObjectMeta, OwnerReference } from '../exchange/object.ts';
import type { Resource } from '../registry/resource.ts';

const META = FieldPath.of('metadata');

/** Fields the server owns at creation. */
export function initMetadata(resource: Resource, meta: ObjectMeta, { now, uid }: { now: number; uid: string }): void {
  delete meta.deletionTimestamp;
  delete meta.deletionGracePeriodSeconds;
  delete (meta as Record<string, unknown>)['selfLink'];
  meta.uid = uid;
  meta.creationTimestamp = formatTime(now);
  if (resource.strategy.generation === undefined) delete meta.generation;
  else meta.generation = 1;
}

/** Fields the server owns on an update; what a client sent for them does not count. */
export function carryMetadata(resource: Resource, meta: ObjectMeta, old: ObjectMeta): void {
  meta.uid = old.uid as string;
  if (meta.creationTimestamp === undefined || meta.creationTimestamp === null || meta.creationTimestamp === '') {
    if (old.creationTimestamp) meta.creationTimestamp = old.creationTimestamp;
    else delete meta.creationTimestamp;
  }
  copyOrDrop(meta, old, 'deletionTimestamp');
  copyOrDrop(meta, old, 'deletionGracePeriodSeconds');
  copyOrDrop(meta, old, 'generation');
  delete (meta as Record<string, unknown>)['selfLink'];
  if (resource.namespaced && meta.namespace === undefined && old.namespace !== undefined)
    meta.namespace = old.namespace;
}

function copyOrDrop(
  meta: ObjectMeta,
  old: ObjectMeta,
  field: 'deletionTimestamp' | 'deletionGracePeriodSeconds' | 'generation',
) {
  const value = old[field];
  if (value === undefined || value === null) delete meta[field];
  else (meta as Record<string, unknown>)[field] = value;
}

/** +1 when the kind counts this change. */
export function bumpGeneration(resource: Resource, object: ApiObject, old: ApiObject): void {
  const rule = resource.strategy.generation;
  if (rule === undefined) return;
  const changed = rule === 'spec' ? !semanticEqual(object['spec'], old['spec']) : rule(object, old);
  if (changed) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

/** Owner references repeated word for word are dropped; returns whether any was. */
export function dropDuplicateOwners(meta: ObjectMeta): string[] {
  const owners = meta.ownerReferences;
  if (owners === undefined || owners.length < 2) return [];
  const kept = new Map<string, OwnerReference>();
  const repeated: string[] = [];
  for (const owner of owners) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner;
    const words = JSON.stringify([apiVersion, kind, name, uid, controller ?? null, blockOwnerDeletion ?? null]);
    if (kept.has(words)) repeated.push(owner.uid);
    else kept.set(words, owner);
  }
  if (repeated.length === 0) return [];
  meta.ownerReferences = [...kept.values()];
  return [
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  ];
}

const checkNameOf = ({ strategy }: Resource, name: string): readonly string[] =>
  strategy.checkName?.(name) ?? checkDnsSubdomain(name);

/** What the start of a name is checked as: it may end in a dash, as more comes. */
const asPrefix = (start: string): string =>
  start.length > 1 && start.endsWith('-') ? `${start.slice(0, -2)}a` : start;

/** `sound` was checked before: what is the very same in `meta` needs no second look. */
export function validateMetadata(resource: Resource, meta: ObjectMeta, sound?: ObjectMeta): Issue[] {
  const issues: Issue[] = [];
  if (meta.generateName && meta.generateName !== sound?.generateName) {
    const problems = checkNameOf(resource, asPrefix(meta.generateName));
    issues.push(...problems.map((why) => invalid(META.child('generateName'), meta.generateName, why)));
  }
  if (!meta.name) {
    issues.push(required(META.child('name'), 'name or generateName is required'));
  } else {
    const problems = checkNameOf(resource, meta.name);
    issues.push(...problems.map((why) => invalid(META.child('name'), meta.name, why)));
  }
  if (resource.namespaced && !meta.namespace) issues.push(required(META.child('namespace')));
  if (!resource.namespaced && meta.namespace) {
    issues.push(forbidden(META.child('namespace'), 'not allowed on this type'));
  }
  if (meta.labels !== sound?.labels) issues.push(...validateLabels(META.child('labels'), meta.labels));
  if (meta.annotations !== sound?.annotations) {
    issues.push(...validateAnnotations(META.child('annotations'), meta.annotations));
  }
  issues.push(...validateOwners(meta.ownerReferences ?? []));
  (meta.finalizers ?? []).forEach((finalizer, index) => {
    const path = META.child('finalizers').index(index);
    const problems = checkQualifiedName(finalizer);
    issues.push(...problems.map((why) => invalid(path, finalizer, why)));
    if (problems.length === 0 && !resource.custom && !finalizer.includes('/') && !STANDARD_FINALIZERS.has(finalizer)) {
      issues.push(invalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified'));
    }
  });
  const set = new Set(meta.finalizers ?? []);
  if (set.has('orphan') && set.has('foregroundDeletion')) {
    issues.push(
      invalid(
        META.child('finalizers'),
        meta.finalizers,
        'finalizers "orphan" and "foregroundDeletion" are mutually exclusive',
      ),
    );
  }
  return issues;
}

const STANDARD_FINALIZERS = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

function validateOwners(owners: readonly OwnerReference[]): Issue[] {
  const issues: Issue[] = [];
  const path = META.child('ownerReferences');
  let controller: string | undefined;
  let isRepeated = false;
  owners.forEach((owner, index) => {
    const at = path.index(index);
    if (!owner.apiVersion)
      issues.push(invalid(at.child('apiVersion'), owner.apiVersion ?? '', 'version must not be empty'));
    if (!owner.kind) issues.push(invalid(at.child('kind'), owner.kind ?? '', 'must not be empty'));
    if (!owner.name) issues.push(invalid(at.child('name'), owner.name ?? '', 'must not be empty'));
    if (!owner.uid) issues.push(invalid(at.child('uid'), owner.uid ?? '', 'must not be empty'));
    if (owner.kind === 'Event' && owner.apiVersion === 'v1') {
      issues.push(invalid(at, 'v1, Kind=Event', 'is disallowed from being an owner'));
    }
    if (owner.controller === true) {
      // Told once: it shows all the references.
      if (controller !== undefined && !isRepeated) {
        isRepeated = true;
        issues.push(
          invalid(
            path,
            owners,
            `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${owner.kind}/${owner.name}`,
          ),
        );
      }
      controller = `${owner.kind}/${owner.name}`;
    }
  });
  return issues;
}

export function validateMetadataUpdate(meta: ObjectMeta, old: ObjectMeta): Issue[] {
  const issues: Issue[] = [];
  for (const field of ['name', 'namespace', 'creationTimestamp'] as const) {
    if ((meta[field] ?? '') !== (old[field] ?? '')) {
      issues.push(invalid(META.child(field), meta[field] ?? null, 'field is immutable'));
    }
  }
  if (old.deletionTimestamp) {
    const before = new Set(old.finalizers ?? []);
    const added = (meta.finalizers ?? []).filter((finalizer) => !before.has(finalizer));
    if (added.length > 0) {
      const list = added.map((name) => JSON.stringify(name)).join(', ');
      issues.push(
        forbidden(
          META.child('finalizers'),
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
        ),
      );
    }
  }
  return issues;
}

/** A resourceVersion a client sent: undefined when it means "whatever is there". */
export function askedRevision(meta: ObjectMeta): number | undefined | 'malformed' {
  const text = meta.resourceVersion;
  if (text === undefined || text === '' || text === '0') return undefined;
  return /^\d+$/.test(text) ? Number(text) : 'malformed';
}
