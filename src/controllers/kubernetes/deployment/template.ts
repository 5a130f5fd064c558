import type { PodTemplateSpec } from '../../../api/generated/core-v1.ts';
import { isObject, semanticEqual } from '../../../machinery/values/index.ts';

export const HASH_LABEL = 'pod-template-hash';
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const MAX_NAME = 253;

/** Equal but for the hash label that a ReplicaSet's template carries. */
export function isSameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean {
  return semanticEqual(withoutHash(a), withoutHash(b));
}

export function withoutHash(template: PodTemplateSpec | undefined): PodTemplateSpec {
  const labels = template?.metadata?.labels;
  if (template === undefined || labels === undefined || !(HASH_LABEL in labels)) return template ?? {};
  const { [HASH_LABEL]: _hash, ...rest } = labels;
  return { ...template, metadata: { ...template.metadata, labels: rest } };
}

/**
 * A short text that stands for a template in names and labels. The same template gives the same text whatever the order
 * of its keys and however it spells emptiness; `collisionCount` gives another text when the first is taken.
 */
export function templateHash(template: PodTemplateSpec, collisionCount?: number): string {
  let hash = fnv1a(Buffer.from(JSON.stringify(canonical(template))));
  if (collisionCount !== undefined) {
    const count = Buffer.alloc(8);
    count.writeUInt32LE(collisionCount);
    hash = fnv1a(count, hash);
  }
  return Array.from(String(hash), (digit) => ALPHABET.charAt(digit.charCodeAt(0) % ALPHABET.length)).join('');
}

function fnv1a(bytes: Uint8Array, seed = 0x811c9dc5): number {
  let hash = seed;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash >>> 0;
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined && item !== null && !(Array.isArray(item) && item.length === 0))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, canonical(item)]);
  return entries;
}

/** `<deployment>-<hash>`, the first part cut so that the whole is a legal name. */
export function replicaSetName(deployment: string, hash: string): string {
  return `${deployment.slice(0, MAX_NAME - 1 - hash.length)}-${hash}`;
}
