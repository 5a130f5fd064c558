/** Bodies that are small to send and dear to read. */

export const MEGABYTE = 1024 * 1024;
export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
export const PODS = '/api/v1/namespaces/default/pods';
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
export const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };
export const STRATEGIC_PATCH = { 'content-type': 'application/strategic-merge-patch+json' };
export const APPLY_PATCH = { 'content-type': 'application/apply-patch+yaml' };
export const YAML = { 'content-type': 'application/yaml' };
export const PROTOBUF = { 'content-type': 'application/vnd.kubernetes.protobuf' };

export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

export const configMap = (name: string, entries = 0): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: Object.fromEntries(times(entries, (at) => [`key-${at}`, 'v'])),
});

export const pod = (name: string, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  while (left >= 0x80) {
    bytes.push((left % 0x80) | 0x80);
    left = Math.floor(left / 0x80);
  }
  return [...bytes, left];
}

const field = (number: number, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(content.length)]), content]);

const text = (value: string): Buffer => Buffer.from(value);

/** A pod in protobuf with that many containers that say nothing. */
export function podOfEmptyContainers(name: string, containers: number): Buffer {
  const metadata = field(1, field(1, text(name)));
  const spec = field(2, Buffer.concat(times(containers, () => Buffer.from([0x12, 0x00]))));
  const type = field(1, Buffer.concat([field(1, text('v1')), field(2, text('Pod'))]));
  return Buffer.concat([Buffer.from([0x6b, 0x38, 0x73, 0x00]), type, field(2, Buffer.concat([metadata, spec]))]);
}

/** A definition of a kind in group `example.com` whose spec has that schema. */
export const definition = (plural: string, spec: object): object => {
  const kind = `${plural[0]?.toUpperCase()}${plural.slice(1)}`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, singular: plural, kind, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  };
};
