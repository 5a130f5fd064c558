/** What a custom resource definition must look like. What the schemas must look like is in schema.ts. */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  JSONSchemaProps,
} from '../../api/generated/apiextensions-v1.ts';
import {
  checkDns1035Label,
  checkDnsSubdomain,
  deepEqual,
  duplicate,
  FieldPath,
  type Issue,
  invalid,
  notSupported,
  required,
  validateName,
  compileJsonPath,
  plainPath,
} from '../../machinery/values/index.ts';
import { checkSchema } from './schema.ts';

const APPROVAL = 'api-approved.kubernetes.io';
const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const spec = FieldPath.of('spec');

/** `old` is what an update changes: schemas that stay as they are may cost what they cost. */
export function validateDefinition(definition: CustomResourceDefinition, old?: CustomResourceDefinition): Issue[] {
  const given: Partial<CustomResourceDefinitionSpec> = definition.spec ?? {};
  const { group = '', scope = '', versions = [] } = given;
  const names: Partial<CustomResourceDefinitionNames> = given.names ?? {};
  const issues: Issue[] = [];
  const wanted = `${names.plural ?? ''}.${group}`;
  if ((definition.metadata.name ?? '') !== wanted) {
    const why = 'must be spec.names.plural+"."+spec.group';
    issues.push(invalid(FieldPath.of('metadata', 'name'), definition.metadata.name ?? '', why));
  }
  issues.push(...validateApproval(definition, group));
  if (group === '') issues.push(required(spec.child('group')));
  else {
    issues.push(...validateName(spec.child('group'), group, checkDnsSubdomain));
    if (!group.includes('.')) {
      issues.push(invalid(spec.child('group'), group, 'should be a domain with at least one dot'));
    }
  }
  if (scope === '') issues.push(required(spec.child('scope')));
  else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    issues.push(notSupported(spec.child('scope'), scope, ['Cluster', 'Namespaced']));
  }
  if (given.preserveUnknownFields) {
    const why =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    issues.push(invalid(spec.child('preserveUnknownFields'), true, why));
  }
  issues.push(
    ...validateNames(names),
    ...validateVersions(versions, old?.spec?.versions),
    ...validateConversion(given),
  );
  return issues;
}

function validateApproval({ metadata }: CustomResourceDefinition, group: string): Issue[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group) || metadata.annotations?.[APPROVAL]) return [];
  const why = `protected groups must have approval annotation "${APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111`;
  return [required(FieldPath.of('metadata', 'annotations').key(APPROVAL), why)];
}

function validateNames(names: Partial<CustomResourceDefinitionNames>): Issue[] {
  const path = spec.child('names');
  const issues: Issue[] = [];
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    const value = names[field] ?? '';
    if (value === '') issues.push(required(path.child(field)));
    else {
      issues.push(...checkDns1035Label(value.toLowerCase()).map((why) => invalid(path.child(field), value, why)));
    }
  }
  if (names.kind && names.kind === names.listKind) {
    issues.push(invalid(path.child('listKind'), names.listKind, 'kind and listKind may not be the same'));
  }
  for (const [at, name] of (names.shortNames ?? []).entries()) {
    issues.push(...validateName(path.child('shortNames').index(at), name, checkDns1035Label));
  }
  for (const [at, name] of (names.categories ?? []).entries()) {
    issues.push(...validateName(path.child('categories').index(at), name, checkDns1035Label));
  }
  return issues;
}

function validateVersions(
  versions: readonly CustomResourceDefinitionVersion[],
  old: readonly CustomResourceDefinitionVersion[] = [],
): Issue[] {
  const path = spec.child('versions');
  if (versions.length === 0) return [required(path, 'must have at least one version')];
  const issues: Issue[] = [];
  const seen = new Set<string>();
  const shared = sharedSchema(versions);
  if (shared !== undefined) {
    const before = sharedSchema(old);
    issues.push(...checkSchema(shared, spec.child('validation', 'openAPIV3Schema'), deepEqual(shared, before)));
  }
  for (const [at, version] of versions.entries()) {
    const own = path.index(at);
    issues.push(...validateName(own.child('name'), version.name, checkDns1035Label));
    if (seen.has(version.name)) {
      issues.push(invalid(path, version.name, 'must contain unique version names'));
    }
    seen.add(version.name);
    const before = old.find(({ name }) => name === version.name);
    if (shared === undefined) issues.push(...validateSchema(own, version, before));
    issues.push(...validateVersion(own, version));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    issues.push(invalid(path, null, 'must have exactly one version marked as storage version'));
  }
  return issues;
}

/** The schema that all versions have; kube-apiserver looks at it once, and names the place where it used to be. */
function sharedSchema(versions: readonly CustomResourceDefinitionVersion[]): JSONSchemaProps | undefined {
  const [first, ...others] = versions.map(({ schema }) => schema?.openAPIV3Schema ?? undefined);
  return others.every((schema) => deepEqual(schema, first)) ? first : undefined;
}

function validateSchema(
  path: FieldPath,
  { schema }: CustomResourceDefinitionVersion,
  old: CustomResourceDefinitionVersion | undefined,
): Issue[] {
  const at = path.child('schema', 'openAPIV3Schema');
  const given = schema?.openAPIV3Schema;
  if (given === undefined || given === null) return [required(at, 'schemas are required')];
  return checkSchema(given, at, deepEqual(given, old?.schema?.openAPIV3Schema));
}

function validateVersion(path: FieldPath, version: CustomResourceDefinitionVersion): Issue[] {
  const issues: Issue[] = [];
  const columns = version.additionalPrinterColumns ?? [];
  for (const [index, column] of columns.entries()) {
    const own = path.child('additionalPrinterColumns').index(index);
    if (!column.name) issues.push(required(own.child('name')));
    if (!column.type) issues.push(required(own.child('type')));
    else if (!COLUMN_TYPES.includes(column.type)) {
      issues.push(invalid(own.child('type'), column.type, `must be one of ${COLUMN_TYPES.join(',')}`));
    }
    if (!column.jsonPath) issues.push(required(own.child('jsonPath')));
    else issues.push(...validatePath(own.child('jsonPath'), column.jsonPath));
    if (columns.findIndex(({ name }) => name === column.name) < index) {
      issues.push(duplicate(own.child('name'), column.name));
    }
  }
  for (const [index, { jsonPath }] of (version.selectableFields ?? []).entries()) {
    const own = path.child('selectableFields').index(index).child('jsonPath');
    if (plainPath(jsonPath) === undefined) issues.push(invalid(own, jsonPath, 'is an invalid path'));
  }
  const scale = version.subresources?.scale;
  if (scale) {
    const own = path.child('subresources', 'scale');
    for (const [field, root] of [
      ['specReplicasPath', 'spec'],
      ['statusReplicasPath', 'status'],
    ] as const) {
      if (!scale[field]) issues.push(required(own.child(field)));
      else if (plainPath(scale[field])?.[0] !== root) {
        issues.push(invalid(own.child(field), scale[field], `should be a json path under .${root}`));
      }
    }
  }
  return issues;
}

function validatePath(path: FieldPath, text: string): Issue[] {
  try {
    compileJsonPath(text);
    return [];
  } catch (error) {
    return [invalid(path, text, (error as Error).message)];
  }
}

function validateConversion({ conversion, versions = [] }: Partial<CustomResourceDefinitionSpec>): Issue[] {
  const path = spec.child('conversion');
  const strategy = conversion?.strategy ?? 'None';
  if (strategy !== 'None' && strategy !== 'Webhook') {
    return [notSupported(path.child('strategy'), strategy, ['None', 'Webhook'])];
  }
  if (strategy === 'None') {
    return conversion?.webhook
      ? [invalid(path.child('webhook'), conversion.webhook, 'should not be set when strategy is not set to Webhook')]
      : [];
  }
  const client = conversion?.webhook?.clientConfig;
  const issues: Issue[] = [];
  if (client === undefined) {
    issues.push(required(path.child('webhook', 'clientConfig'), 'required when strategy is set to Webhook'));
  }
  if ((conversion?.webhook?.conversionReviewVersions ?? []).length === 0 && versions.length > 0) {
    issues.push(required(path.child('webhook', 'conversionReviewVersions')));
  }
  return issues;
}

export function validateDefinitionUpdate(definition: CustomResourceDefinition, old: CustomResourceDefinition): Issue[] {
  const issues: Issue[] = [];
  const keep = (path: FieldPath, value: unknown, before: unknown): void => {
    if (value !== before) issues.push(invalid(path, value, 'field is immutable'));
  };
  const established = old.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
  keep(spec.child('group'), definition.spec?.group, old.spec?.group);
  keep(spec.child('names', 'plural'), definition.spec?.names.plural, old.spec?.names.plural);
  if (established) {
    keep(spec.child('scope'), definition.spec?.scope, old.spec?.scope);
    keep(spec.child('names', 'kind'), definition.spec?.names.kind, old.spec?.names.kind);
  }
  for (const [at, stored] of (definition.status?.storedVersions ?? []).entries()) {
    if (definition.spec?.versions.some(({ name }) => name === stored)) continue;
    const why = `missing from spec.versions; ${stored} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${stored} and removes ${stored} from status.storedVersions`;
    issues.push(invalid(FieldPath.of('status', 'storedVersions').index(at), stored, why));
  }
  return issues;
}
