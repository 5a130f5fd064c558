import type { CustomResourceDefinition, JSONSchemaProps } from '../generated/apiextensions-v1.ts';
import type { ResourceType } from '../resource.ts';

/**
 * The definitions of our own kinds are written once, here, and used twice: the embedded server serves them, and
 * a cluster gets them as CustomResourceDefinitions.
 */

export type CrdSchema = JSONSchemaProps;

const described = (description: string | undefined): Pick<CrdSchema, 'description'> =>
  description === undefined ? {} : { description };

export const text = (description?: string, more: Partial<CrdSchema> = {}): CrdSchema => ({
  type: 'string',
  ...described(description),
  ...more,
});

export const int32 = (description?: string, more: Partial<CrdSchema> = {}): CrdSchema => ({
  type: 'integer',
  format: 'int32',
  ...described(description),
  ...more,
});

export const int64 = (description?: string, more: Partial<CrdSchema> = {}): CrdSchema => ({
  type: 'integer',
  format: 'int64',
  ...described(description),
  ...more,
});

export const flag = (description?: string, more: Partial<CrdSchema> = {}): CrdSchema => ({
  type: 'boolean',
  ...described(description),
  ...more,
});

export const time = (description?: string): CrdSchema => ({
  type: 'string',
  format: 'date-time',
  ...described(description),
});

export const intOrPercent = (description?: string): CrdSchema => ({
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  'x-kubernetes-int-or-string': true,
  ...described(description),
});

export const list = (items: CrdSchema, description?: string, more: Partial<CrdSchema> = {}): CrdSchema => ({
  type: 'array',
  items,
  ...described(description),
  ...more,
});

export const mapOf = (values: CrdSchema, description?: string): CrdSchema => ({
  type: 'object',
  additionalProperties: values as never,
  ...described(description),
});

export const object = (
  properties: Record<string, CrdSchema>,
  { description, required, ...more }: Partial<CrdSchema> & { required?: string[] } = {},
): CrdSchema => ({
  type: 'object',
  ...described(description),
  // API servers store no empty ones: a definition with them would never be as it was written.
  ...(Object.keys(properties).length === 0 ? {} : { properties }),
  ...(required === undefined ? {} : { required }),
  ...more,
});

/** A pod template is checked by the server when pods are made of it, not here. */
export const podTemplate = (description: string): CrdSchema => ({
  type: 'object',
  description,
  'x-kubernetes-preserve-unknown-fields': true,
});

export const labelSelector = (description: string): CrdSchema =>
  object(
    {
      matchLabels: mapOf(text()),
      matchExpressions: list(
        object({ key: text(), operator: text(), values: list(text()) }, { required: ['key', 'operator'] }),
      ),
    },
    { description, 'x-kubernetes-map-type': 'atomic' },
  );

/** One of several values, the first where none is given. */
export const choice = (description: string, values: readonly [string, ...string[]]): CrdSchema =>
  text(description, { enum: [...values] as never, default: values[0] as never });

/** A header of a call that is configured in an object. */
export const httpHeader = (holder: string): CrdSchema =>
  object(
    {
      name: text('Name of the header.'),
      value: text('Value of the header.'),
      valueFrom: object(
        {
          secretKeyRef: object(
            {
              name: text(`Name of the Secret, in the namespace of the ${holder}.`),
              key: text('Key in the Secret.'),
              optional: flag('The header is left out where the Secret or key is missing.'),
            },
            { description: 'A key of a Secret.', required: ['name', 'key'] },
          ),
        },
        { description: 'Where the value comes from instead.' },
      ),
    },
    { required: ['name'] },
  );

export const windowList = (description: string): CrdSchema =>
  list(
    object(
      {
        days: list(text(), 'Mon to Sun; none: every day.'),
        start: text('HH:MM on the clocks of its time zone.'),
        duration: text('From 1m to 24h; it may cross midnight.'),
        timeZone: text('An IANA name, such as Europe/Berlin; absent: UTC.'),
      },
      { required: ['start', 'duration'] },
    ),
    description,
    { maxItems: 16 },
  );

export const conditions = (description: string): CrdSchema =>
  list(
    object(
      {
        type: text(),
        status: text(undefined, { enum: ['True', 'False', 'Unknown'] as never }),
        reason: text(),
        message: text(),
        observedGeneration: int64(),
        lastTransitionTime: time(),
      },
      { required: ['type', 'status'] },
    ),
    description,
    { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
  );

export interface KindDefinition {
  /** Its names and scope. */
  readonly type: Pick<ResourceType, 'group' | 'kind' | 'plural' | 'namespaced'>;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Most preferred first; exactly one is stored. */
  readonly versions: readonly KindVersion[];
}

export interface KindVersion {
  readonly name: string;
  readonly stored: boolean;
  readonly description: string;
  readonly spec?: CrdSchema;
  readonly status?: CrdSchema;
  readonly columns?: readonly {
    name: string;
    type: string;
    jsonPath: string;
    description?: string;
    priority?: number;
  }[];
  readonly scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
}

export function defineKind({ type, ...kind }: KindDefinition): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${type.plural}.${type.group}` },
    spec: {
      group: type.group,
      scope: type.namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: type.kind,
        listKind: `${type.kind}List`,
        plural: type.plural,
        singular: type.kind.toLowerCase(),
        ...(kind.shortNames === undefined ? {} : { shortNames: [...kind.shortNames] }),
        ...(kind.categories === undefined ? {} : { categories: [...kind.categories] }),
      },
      versions: kind.versions.map((version) => ({
        name: version.name,
        served: true,
        storage: version.stored,
        schema: {
          openAPIV3Schema: object(
            {
              apiVersion: text(),
              kind: text(),
              metadata: { type: 'object' },
              ...(version.spec === undefined ? {} : { spec: version.spec }),
              ...(version.status === undefined ? {} : { status: version.status }),
            },
            { description: version.description },
          ),
        },
        ...(version.columns === undefined
          ? {}
          : { additionalPrinterColumns: version.columns.map((column) => ({ ...column })) }),
        subresources: {
          ...(version.status === undefined ? {} : { status: {} }),
          ...(version.scale === undefined ? {} : { scale: { ...version.scale } }),
        },
      })),
    },
  };
}
