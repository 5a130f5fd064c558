/** Objects that several stories are made of. */
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../api/resource.ts';
import { SIMULATED } from '../../nodes/index.ts';

/** A manifest of this package as objects. What a story shows is what it applies. */
export function parseManifest(text: string): KubeObject[] {
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

export const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** A simulated machine. */
export function machine(name: string, capacity: Readonly<Record<string, string>> = {}): KubeObject {
  const labels = { 'kubernetes.io/hostname': name };
  const metadata = { name, labels, annotations: { [SIMULATED]: 'true' } };
  return { apiVersion: 'v1', kind: 'Node', metadata, status: { capacity } } as KubeObject;
}
