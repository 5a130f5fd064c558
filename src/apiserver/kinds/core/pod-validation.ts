/** Validation of pods and pod templates: the rules clients and controllers rely on. */
import type { Container, Pod, PodSpec, PodTemplateSpec } from '../../../api/generated/core-v1.ts';
import { requestsWithinLimits } from '../../../api/core/resource-limits.ts';
import { validatePodResponders } from '../../../api/lifecycle/index.ts';
import { validateGroupLinks } from '../../../api/scheduling/index.ts';
import { DELETION_COST_ANNOTATION, parseDeletionCost } from '../../../decisions/downscale/index.ts';
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkQualifiedName,
  compareQuantities,
  deepClone,
  duplicate,
  FieldPath,
  forbidden,
  invalid,
  isQuantity,
  type Issue,
  notSupported,
  required,
  semanticEqual,
  validateAnnotations,
  validateLabels,
} from '../../../machinery/values/index.ts';

const SPEC = FieldPath.of('spec');
const ANNOTATIONS = FieldPath.of('metadata', 'annotations');

type Annotations = Readonly<Record<string, string>> | undefined;

/** A cost that cannot be read would silently count as 0; one that was stored before may stay. */
function validateDeletionCost(annotations: Annotations, path: FieldPath, old?: Annotations): Issue[] {
  const cost = annotations?.[DELETION_COST_ANNOTATION];
  if (cost === undefined || parseDeletionCost(cost) !== undefined) return [];
  const before = old?.[DELETION_COST_ANNOTATION];
  if (before !== undefined && parseDeletionCost(before) === undefined) return [];
  return [invalid(path.key(DELETION_COST_ANNOTATION), cost, 'must be a 32bit integer')];
}

export function validatePod(pod: Pod): Issue[] {
  const spec = pod.spec ?? { containers: [] };
  const issues = validateDeletionCost(pod.metadata.annotations, ANNOTATIONS);
  return [...issues, ...validatePodSpec(spec, SPEC), ...validateGroupLinks(SPEC, spec)];
}

export interface PodTemplateRules {
  /** Restart policies the owner allows. */
  readonly restartPolicies: readonly string[];
}

export function validatePodTemplate(
  template: PodTemplateSpec | undefined,
  path: FieldPath,
  rules: PodTemplateRules,
): Issue[] {
  if (template === undefined) return [required(path)];
  const issues = [
    ...validateLabels(path.child('metadata', 'labels'), template.metadata?.labels),
    ...validateAnnotations(path.child('metadata', 'annotations'), template.metadata?.annotations),
    ...validateDeletionCost(template.metadata?.annotations, path.child('metadata', 'annotations')),
    ...validatePodSpec(template.spec ?? { containers: [] }, path.child('spec')),
  ];
  const policy = template.spec?.restartPolicy ?? 'Always';
  if (!rules.restartPolicies.includes(policy)) {
    issues.push(notSupported(path.child('spec', 'restartPolicy'), policy, rules.restartPolicies));
  }
  return issues;
}

export function validatePodSpec(spec: PodSpec, path: FieldPath): Issue[] {
  const issues: Issue[] = [];
  const containers = spec.containers ?? [];
  if (containers.length === 0) issues.push(required(path.child('containers')));
  const volumeNames = validateVolumes(spec, path.child('volumes'), issues);
  const names = new Set<string>();
  const all = [
    { list: containers, at: path.child('containers') },
    { list: spec.initContainers ?? [], at: path.child('initContainers') },
  ];
  for (const { list, at } of all) {
    list.forEach((container, index) =>
      issues.push(...validateContainer(container, at.index(index), { names, volumeNames })),
    );
  }
  if (!['Always', 'OnFailure', 'Never'].includes(spec.restartPolicy ?? '')) {
    issues.push(notSupported(path.child('restartPolicy'), spec.restartPolicy, ['Always', 'OnFailure', 'Never']));
  }
  const dns = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
  if (!dns.includes(spec.dnsPolicy ?? '')) issues.push(notSupported(path.child('dnsPolicy'), spec.dnsPolicy, dns));
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > 2_147_483_647)) {
    issues.push(invalid(path.child('activeDeadlineSeconds'), deadline, 'must be between 1 and 2147483647, inclusive'));
  }
  if (spec.nodeName) {
    issues.push(...checkDnsSubdomain(spec.nodeName).map((why) => invalid(path.child('nodeName'), spec.nodeName, why)));
  }
  if (spec.serviceAccountName) {
    const at = path.child('serviceAccountName');
    issues.push(...checkDnsSubdomain(spec.serviceAccountName).map((why) => invalid(at, spec.serviceAccountName, why)));
  }
  if (spec.priorityClassName) {
    const at = path.child('priorityClassName');
    issues.push(...checkDnsSubdomain(spec.priorityClassName).map((why) => invalid(at, spec.priorityClassName, why)));
  }
  if (spec.hostname) {
    issues.push(...checkDnsLabel(spec.hostname).map((why) => invalid(path.child('hostname'), spec.hostname, why)));
  }
  if (spec.subdomain) {
    issues.push(...checkDnsLabel(spec.subdomain).map((why) => invalid(path.child('subdomain'), spec.subdomain, why)));
  }
  issues.push(...validateTolerations(spec, path.child('tolerations')), ...validateSysctls(spec, path));
  issues.push(...validateGates(spec, path.child('schedulingGates')));
  issues.push(...validatePodResponders(path.child('evictionResponders'), spec.evictionResponders));
  return issues;
}

function validateVolumes(spec: PodSpec, path: FieldPath, issues: Issue[]): Set<string> {
  const names = new Set<string>();
  (spec.volumes ?? []).forEach((volume, index) => {
    const at = path.index(index);
    if (!volume.name) issues.push(required(at.child('name')));
    else issues.push(...checkDnsLabel(volume.name).map((why) => invalid(at.child('name'), volume.name, why)));
    if (names.has(volume.name)) issues.push(duplicate(at.child('name'), volume.name));
    names.add(volume.name);
    const sources = Object.entries(volume).filter(
      ([key, value]) => key !== 'name' && value !== undefined && value !== null,
    );
    if (sources.length > 1) {
      issues.push(forbidden(at.child(sources[1]?.[0] as string), 'may not specify more than 1 volume type'));
    }
  });
  return names;
}

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

function validateContainer(
  container: Container,
  path: FieldPath,
  { names, volumeNames }: { names: Set<string>; volumeNames: ReadonlySet<string> },
): Issue[] {
  const issues: Issue[] = [];
  if (!container.name) issues.push(required(path.child('name')));
  else {
    issues.push(...checkDnsLabel(container.name).map((why) => invalid(path.child('name'), container.name, why)));
    if (names.has(container.name)) issues.push(duplicate(path.child('name'), container.name));
    names.add(container.name);
  }
  if (!container.image) issues.push(required(path.child('image')));
  else if (container.image !== container.image.trim()) {
    issues.push(invalid(path.child('image'), container.image, 'must not have leading or trailing whitespace'));
  }
  if (!PULL_POLICIES.includes(container.imagePullPolicy ?? '')) {
    issues.push(notSupported(path.child('imagePullPolicy'), container.imagePullPolicy, PULL_POLICIES));
  }
  const portNames = new Set<string>();
  (container.ports ?? []).forEach((port, index) => {
    const at = path.child('ports').index(index);
    if (port.name && portNames.has(port.name)) issues.push(duplicate(at.child('name'), port.name));
    if (port.name) portNames.add(port.name);
    if (!port.containerPort) issues.push(required(at.child('containerPort')));
    else if (port.containerPort < 1 || port.containerPort > 65535) {
      issues.push(invalid(at.child('containerPort'), port.containerPort, 'must be between 1 and 65535, inclusive'));
    }
    if (!PROTOCOLS.includes(port.protocol ?? ''))
      issues.push(notSupported(at.child('protocol'), port.protocol, PROTOCOLS));
  });
  (container.env ?? []).forEach((variable, index) => {
    const at = path.child('env').index(index);
    if (!variable.name) issues.push(required(at.child('name')));
    if (variable.valueFrom && variable.value) {
      issues.push(invalid(at.child('valueFrom'), '', 'may not be specified when `value` is not empty'));
    }
  });
  const mounts = new Set<string>();
  (container.volumeMounts ?? []).forEach((mount, index) => {
    const at = path.child('volumeMounts').index(index);
    if (!mount.name) issues.push(required(at.child('name')));
    else if (!volumeNames.has(mount.name))
      issues.push({
        ...invalid(at.child('name'), mount.name, ''),
        rule: 'FieldValueNotFound',
        message: `Not found: ${JSON.stringify(mount.name)}`,
      });
    if (!mount.mountPath) issues.push(required(at.child('mountPath')));
    else if (mounts.has(mount.mountPath))
      issues.push(invalid(at.child('mountPath'), mount.mountPath, 'must be unique'));
    mounts.add(mount.mountPath);
    if (mount.subPath && mount.subPathExpr) {
      issues.push(
        invalid(at.child('subPathExpr'), mount.subPathExpr, 'subPathExpr and subPath are mutually exclusive'),
      );
    }
  });
  return [...issues, ...validateResources(container, path.child('resources'))];
}

function validateResources({ resources }: Container, path: FieldPath): Issue[] {
  const issues: Issue[] = [];
  const limits = resources?.limits ?? {};
  const requests = resources?.requests ?? {};
  for (const [kind, list] of Object.entries({ limits, requests })) {
    for (const [name, quantity] of Object.entries(list)) {
      const at = path.child(kind).key(name);
      issues.push(...checkQualifiedName(name).map((why) => invalid(at, name, why)));
      if (!name.includes('/') && !isStandardResource(name)) {
        issues.push(invalid(at, name, 'must be a standard resource for containers'));
      }
      if (!isQuantity(quantity)) issues.push(invalid(at, quantity, 'must be a quantity'));
      else if (compareQuantities(quantity, '0') < 0)
        issues.push(invalid(at, quantity, 'must be greater than or equal to 0'));
    }
  }
  return [...issues, ...requestsWithinLimits({ limits, requests }, path)];
}

const isStandardResource = (name: string): boolean =>
  ['cpu', 'memory', 'ephemeral-storage'].includes(name) || name.startsWith('hugepages-');

function validateTolerations(spec: PodSpec, path: FieldPath): Issue[] {
  const issues: Issue[] = [];
  (spec.tolerations ?? []).forEach((toleration, index) => {
    const at = path.index(index);
    const operators = ['Equal', 'Exists', ''];
    if (!operators.includes(toleration.operator ?? '') && !['Lt', 'Gt'].includes(toleration.operator ?? '')) {
      issues.push(notSupported(at.child('operator'), toleration.operator, ['Equal', 'Exists']));
    }
    if (!toleration.key && toleration.operator !== 'Exists') {
      issues.push(
        invalid(
          at.child('operator'),
          toleration.operator ?? '',
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    }
    const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
    if (toleration.effect && !effects.includes(toleration.effect)) {
      issues.push(notSupported(at.child('effect'), toleration.effect, effects));
    }
    if (toleration.tolerationSeconds !== undefined && toleration.effect !== 'NoExecute') {
      issues.push(
        invalid(at.child('effect'), toleration.effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"),
      );
    }
  });
  return issues;
}

function validateGates(spec: PodSpec, path: FieldPath): Issue[] {
  const issues: Issue[] = [];
  const seen = new Set<string>();
  (spec.schedulingGates ?? []).forEach(({ name }, index) => {
    const at = path.index(index);
    issues.push(...checkQualifiedName(name).map((why) => invalid(at, name, why)));
    if (seen.has(name)) issues.push(duplicate(at, name));
    seen.add(name);
  });
  return issues;
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;

function validateSysctls(spec: PodSpec, path: FieldPath): Issue[] {
  const at = path.child('securityContext', 'sysctls');
  const issues: Issue[] = [];
  (spec.securityContext?.sysctls ?? []).forEach(({ name }, index) => {
    if (!name) issues.push(required(at.index(index).child('name')));
    else if (!SYSCTL.test(name) || name.length > 253) {
      issues.push(
        invalid(
          at.index(index).child('name'),
          name,
          `must have at most 253 characters and match regex ${SYSCTL.source}`,
        ),
      );
    }
  });
  return issues;
}

const FROZEN =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Only a few fields of a pod may change after it is created. */
export function validatePodUpdate(pod: Pod, old: Pod): Issue[] {
  const issues = validateDeletionCost(pod.metadata.annotations, ANNOTATIONS, old.metadata.annotations);
  if (pod.spec === old.spec) return issues;
  const spec = deepClone(pod.spec ?? { containers: [] });
  const before = old.spec ?? { containers: [] };
  if ((spec.containers ?? []).length !== (before.containers ?? []).length) {
    return [forbidden(SPEC.child('containers'), 'pod updates may not add or remove containers')];
  }
  if ((spec.initContainers ?? []).length !== (before.initContainers ?? []).length) {
    return [forbidden(SPEC.child('initContainers'), 'pod updates may not add or remove containers')];
  }
  const was = before.activeDeadlineSeconds;
  const is = spec.activeDeadlineSeconds;
  if (was !== undefined && (is === undefined || is > was)) {
    issues.push(
      invalid(SPEC.child('activeDeadlineSeconds'), is ?? null, 'must be less than or equal to previous value'),
    );
  }
  const kept = (before.tolerations ?? []).every((toleration) =>
    (spec.tolerations ?? []).some((candidate) =>
      semanticEqual({ ...candidate, tolerationSeconds: 0 }, { ...toleration, tolerationSeconds: 0 }),
    ),
  );
  if (!kept) {
    issues.push(
      forbidden(SPEC.child('tolerations'), 'existing toleration can not be modified except its tolerationSeconds'),
    );
  }
  const gated = (before.schedulingGates ?? []).length > 0;
  const oldGates = new Set((before.schedulingGates ?? []).map(({ name }) => name));
  if ((spec.schedulingGates ?? []).some(({ name }) => !oldGates.has(name))) {
    issues.push(forbidden(SPEC.child('schedulingGates'), 'only deletion is allowed, but found new scheduling gates'));
  }
  if (issues.length > 0) return issues;

  // What may change is put back; anything still different may not.
  spec.containers.forEach((container, index) => {
    const image = before.containers[index]?.image;
    if (image !== undefined) container.image = image;
  });
  (spec.initContainers ?? []).forEach((container, index) => {
    const image = before.initContainers?.[index]?.image;
    if (image !== undefined) container.image = image;
  });
  restore(spec, before, 'activeDeadlineSeconds');
  restore(spec, before, 'tolerations');
  restore(spec, before, 'schedulingGates');
  if ((before.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1) {
    restore(spec, before, 'terminationGracePeriodSeconds');
  }
  if (gated) {
    restore(spec, before, 'nodeSelector');
    restore(spec, before, 'affinity');
  }
  return semanticEqual(spec, before) ? [] : [forbidden(SPEC, `${FROZEN}\n${difference(spec, before)}`)];
}

function restore<K extends keyof PodSpec>(spec: PodSpec, before: PodSpec, field: K): void {
  if (before[field] === undefined) delete spec[field];
  else spec[field] = before[field];
}

function difference(spec: PodSpec, before: PodSpec): string {
  const fields = new Set([...Object.keys(spec), ...Object.keys(before)]) as Set<keyof PodSpec>;
  return [...fields].filter((field) => !semanticEqual(spec[field], before[field])).join(', ');
}
