import type { HTTPPodPickerHeader } from '../../../api/generated/apps-v1.ts';
import type { SecretKeySelector } from '../../../api/generated/core-v1.ts';
import { secretType } from '../../../api/resource-types.ts';
import { type Client, isNotFound } from '../../../machinery/runtime/index.ts';
import { PickerError } from './protocol.ts';

/** What Node's HTTP client lets through in a header value, one character per byte. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface ReadHeadersOptions {
  readonly client: Client;
  /** Secrets are looked up here and nowhere else. */
  readonly namespace: string;
}

/**
 * The configured headers with their values, secrets read now. A header whose optional secret or key is missing is left
 * out; a missing one that is not optional, or a value that cannot be sent, is `SecretUnusable`.
 */
export async function readHeaders(
  configured: readonly HTTPPodPickerHeader[],
  options: ReadHeadersOptions,
): Promise<[name: string, value: string][]> {
  const headers: [string, string][] = [];
  for (const { name, value = '', valueFrom } of configured) {
    const reference = valueFrom?.secretKeyRef;
    const bytes = reference === undefined ? Buffer.from(value, 'utf8') : await readSecretKey(reference, options);
    if (bytes !== undefined) headers.push([name, sendable(bytes)]);
  }
  return headers;
}

async function readSecretKey(
  { key, name = '', optional = false }: SecretKeySelector,
  { client, namespace }: ReadHeadersOptions,
): Promise<Buffer | undefined> {
  let data: Record<string, string> | undefined;
  try {
    data = (await client.get(secretType, { namespace, name })).data;
  } catch (error) {
    if (isNotFound(error) && optional) return undefined;
    throw new PickerError('SecretUnusable');
  }
  const encoded = data !== undefined && Object.hasOwn(data, key) ? data[key] : undefined;
  if (encoded === undefined) {
    if (optional) return undefined;
    throw new PickerError('SecretUnusable');
  }
  return Buffer.from(encoded, 'base64');
}

/** The bytes as the one-character-per-byte text that goes on the wire unchanged. */
function sendable(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  if (!SENDABLE.test(text)) throw new PickerError('SecretUnusable');
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new PickerError('SecretUnusable');
  }
  return text;
}
