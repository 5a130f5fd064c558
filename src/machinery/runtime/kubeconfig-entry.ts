/** One named entry of a kubeconfig, and what is read from it. */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/** The configuration names a server or a user that cannot be used; the message says which and where. */
export class KubeconfigError extends Error {
  override name = 'KubeconfigError';
}

export interface KubeconfigEntry {
  readonly name?: string;
  /** File the entry was read from; paths in it are relative to that. */
  readonly from: string;
  readonly body: Record<string, unknown>;
}

export const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Texts of a list; anything else in it is left out. */
export const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

/** Certificates and keys stand in the file itself, in base64, or in one beside it. */
export function pem(entry: KubeconfigEntry, field: string): string | undefined {
  const data = text(entry.body[`${field}-data`]);
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  const file = text(entry.body[field]);
  return file ? readText(besides(entry, file)) : undefined;
}

export function besides({ from }: KubeconfigEntry, file: string): string {
  return isAbsolute(file) ? file : join(dirname(from), file);
}

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new KubeconfigError(`Cannot read ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
