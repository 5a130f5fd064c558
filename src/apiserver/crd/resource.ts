/** From a custom resource definition to the resource that serves its objects. */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
} from '../../api/generated/apiextensions-v1.ts';
import { deepEqual, formatScalar, plainPath, readPath, writePath } from '../../machinery/values/index.ts';
import { compareVersions } from '../discovery/discovery.ts';
import type { ApiObject } from '../exchange/object.ts';
import {
  ALL_VERBS,
  apiVersion,
  type Resource,
  type Verb,
  type ServedVersion,
  storagePrefix,
} from '../registry/resource.ts';
import type { Strategy } from '../registry/strategy.ts';
import type { Subresource } from '../registry/subresource.ts';
import { type ScaleFields, scaleSubresource } from '../subresources/scale.ts';
import { statusSubresource } from '../subresources/status.ts';
import { customLayout } from './columns.ts';
import { compileSchema } from './schema.ts';
import type { CustomSchema } from '../codec/structural/custom-schema.ts';
import type { ConversionWebhook } from './conversion-webhook.ts';

/** A definition on its way out takes nothing new; updates go on, for those who must remove a finalizer. */
const VERBS_WHILE_TERMINATING: readonly Verb[] = ALL_VERBS.filter((verb) => verb !== 'create');

/** Undefined when no version is served. `webhook` converts, where the definition names one. */
export function customResource(
  definition: CustomResourceDefinition,
  webhook?: ConversionWebhook,
): Resource | undefined {
  const { spec } = definition;
  if (spec === undefined) return undefined;
  const served = spec.versions.filter((version) => version.served).sort((a, b) => compareVersions(a.name, b.name));
  const storage = spec.versions.find((version) => version.storage);
  if (served.length === 0 || storage === undefined) return undefined;
  const names = definition.status?.acceptedNames ?? spec.names;
  const compiled = new Map<string, CustomSchema>();
  const schemaOf = (version: CustomResourceDefinitionVersion): CustomSchema => {
    let schema = compiled.get(version.name);
    if (schema === undefined) {
      schema = compileSchema(version.schema?.openAPIV3Schema);
      compiled.set(version.name, schema);
    }
    return schema;
  };
  return {
    group: spec.group,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    verbs: definition.metadata.deletionTimestamp ? VERBS_WHILE_TERMINATING : ALL_VERBS,
    versions: served.map((version) => {
      const shown = servedVersion(spec, version, schemaOf);
      return webhook === undefined ? shown : convertedVersion(shown, { spec, storage: storage.name, webhook });
    }),
    stored: { group: spec.group, version: storage.name },
    ...(webhook !== undefined && { inStoredVersion: (object) => webhook.convert(object, storage.name) }),
    prefix: storagePrefix(spec.group, names.plural),
    strategy: customStrategy(
      spec,
      // By the time they are checked, objects that a webhook converts are in the stored version.
      (name) => schemaOf((webhook === undefined && served.find((version) => version.name === name)) || storage),
      storage,
    ),
    subresources: subresourcesOf(names.kind, storage),
    custom: true,
    schemaFor: (version) => spec.versions.find(({ name }) => name === version)?.schema?.openAPIV3Schema,
  };
}

function servedVersion(
  { group, names }: CustomResourceDefinitionSpec,
  version: CustomResourceDefinitionVersion,
  schemaOf: (version: CustomResourceDefinitionVersion) => CustomSchema,
): ServedVersion {
  return {
    name: version.name,
    toStored(object) {
      schemaOf(version).applyDefaults(object);
      return object;
    },
    // What is stored may be older than the schema: defaults and pruning hold for reads as well.
    fromStored(object) {
      const schema = schemaOf(version);
      schema.prune(object);
      schema.applyDefaults(object);
      return object;
    },
    table: customLayout(version.additionalPrinterColumns),
    ...(version.deprecated && {
      deprecationWarning: version.deprecationWarning ?? `${group}/${version.name} ${names.kind} is deprecated`,
    }),
  };
}

/** The same version of a definition whose webhook converts from and to the stored one. */
function convertedVersion(
  version: ServedVersion,
  {
    spec: { group, names },
    storage,
    webhook,
  }: { spec: CustomResourceDefinitionSpec; storage: string; webhook: ConversionWebhook },
): ServedVersion {
  const { name } = version;
  return {
    ...version,
    toStored(object) {
      const given = version.toStored?.(object) ?? object;
      return webhook.convert({ ...given, kind: names.kind, apiVersion: apiVersion(group, name) }, storage);
    },
    fromStored(object) {
      const shown = webhook.convert(object, name);
      return version.fromStored?.(shown) ?? shown;
    },
    learn: (stored) => webhook.learn(stored, name),
  };
}

function customStrategy(
  spec: CustomResourceDefinitionSpec,
  schema: (version: string) => CustomSchema,
  storage: CustomResourceDefinitionVersion,
): Strategy {
  const hasStatus = storage.subresources?.status !== undefined && storage.subresources.status !== null;
  const selectable = new Map<string, string[]>();
  for (const { jsonPath } of spec.versions.flatMap(({ selectableFields }) => selectableFields ?? [])) {
    const path = plainPath(jsonPath);
    if (path !== undefined) selectable.set(path.join('.'), path);
  }
  return {
    defaults: (object) => schema(storage.name).applyDefaults(object),
    prepareForCreate(object) {
      if (hasStatus) delete object['status'];
    },
    validate: (object, version) => schema(version).validate(object, undefined),
    validateUpdate: (object, old, version) => schema(version).validate(object, old),
    validateStatusUpdate: (object, old) => schema(storage.name).validate(object, old),
    ratchets: true,
    generation: (object, old) => !deepEqual(withoutSystem(object, hasStatus), withoutSystem(old, hasStatus)),
    unconditionalUpdate: false,
    ...(selectable.size > 0 && {
      fields: (object: ApiObject) =>
        Object.fromEntries([...selectable].map(([name, path]) => [name, formatScalar(readPath(object, path) ?? '')])),
    }),
  };
}

function withoutSystem(object: ApiObject, hasStatus: boolean): object {
  const { metadata: _metadata, apiVersion: _apiVersion, kind: _kind, status, ...rest } = object;
  return hasStatus ? rest : { ...rest, status };
}

function subresourcesOf(kind: string, { subresources }: CustomResourceDefinitionVersion): Map<string, Subresource> {
  const found = new Map<string, Subresource>();
  if (subresources?.status !== undefined && subresources.status !== null) found.set('status', statusSubresource(kind));
  if (subresources?.scale) found.set('scale', scaleSubresource(scaleFields(subresources.scale)));
  return found;
}

function scaleFields({
  specReplicasPath,
  statusReplicasPath,
  labelSelectorPath,
}: CustomResourceSubresourceScale): ScaleFields {
  const spec = plainPath(specReplicasPath) ?? ['spec', 'replicas'];
  const status = plainPath(statusReplicasPath) ?? ['status', 'replicas'];
  const selector = labelSelectorPath === undefined ? undefined : plainPath(labelSelectorPath);
  return {
    readReplicas: (object) => Number(readPath(object, spec) ?? 0),
    writeReplicas: (object, replicas) => writePath(object, spec, replicas),
    readStatusReplicas: (object) => Number(readPath(object, status) ?? 0),
    readSelector(object) {
      const value = selector === undefined ? undefined : readPath(object, selector);
      return typeof value === 'string' ? value : undefined;
    },
  };
}
