/** The Helm chart, rendered and checked by the real helm. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { CHART, chartFiles } from '../../scripts/chart.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import { defaultInstall, type InstallOptions, installObjects } from '../../src/webhook/index.ts';
import { findHelm } from './kubectl.ts';

const NAMESPACE = defaultInstall.namespace;

async function helm(...args: string[]): Promise<string> {
  return (await promisify(execFile)(findHelm(), args, { maxBuffer: 32 * 1024 * 1024 })).stdout;
}

test('the chart is what npm run chart writes', () => {
  for (const [path, text] of chartFiles()) expect(readFileSync(join(CHART, path), 'utf8')).toBe(text);
});

test('helm finds nothing to complain about in the chart', async () => {
  expect(await helm('lint', '--strict', CHART)).toContain('1 chart(s) linted, 0 chart(s) failed');
});

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
const byName = (a: KubeObject, b: KubeObject): number => nameOf(a).localeCompare(nameOf(b));

async function rendered(...values: string[]): Promise<KubeObject[]> {
  const flags = values.flatMap((value) => ['--set', value]);
  const text = await helm('template', 'quorate', CHART, '--namespace', NAMESPACE, ...flags);
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubeObject)
    .filter((object) => object !== null)
    .map(withoutHelm)
    .sort(byName);
}

/** Annotations for Helm's own eyes say nothing to the cluster. */
function withoutHelm(object: KubeObject): KubeObject {
  const { annotations = {}, ...metadata } = object.metadata;
  const kept = Object.entries(annotations).filter(([key]) => !key.startsWith('helm.sh/'));
  return { ...object, metadata: kept.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(kept) } };
}

/** Helm makes the namespace, with --create-namespace. */
function installed(options: Partial<InstallOptions> = {}): KubeObject[] {
  return (JSON.parse(JSON.stringify(installObjects({ ...defaultInstall, ...options }))) as KubeObject[])
    .filter(({ kind }) => kind !== 'Namespace')
    .sort(byName);
}

test('the chart with its default values is what quorate install prints', async () => {
  expect(await rendered()).toEqual(installed());
});

test.each<[string[], Partial<InstallOptions>]>([
  [['mode=replace'], { mode: 'replace' }],
  [['certManager=true'], { certManager: true }],
  [
    ['failOpen=true', 'replicas=3', 'image=registry.example/q:1'],
    { failOpen: true, replicas: 3, image: 'registry.example/q:1' },
  ],
  [['mode=replace', 'certManager=true', 'failOpen=true'], { mode: 'replace', certManager: true, failOpen: true }],
  [['groups=crd', 'scheduler=true'], { groups: 'crd', scheduler: true }],
  [['mode=replace', 'failOpen=true'], { mode: 'replace', failOpen: true }],
])('the chart with %j is what quorate install prints with those flags', async (values, options) => {
  expect(await rendered(...values)).toEqual(installed(options));
});

test('helm refuses values that make no sense', async () => {
  await expect(rendered('mode=beside')).rejects.toThrow(/mode/);
  await expect(rendered('replicas=0')).rejects.toThrow(/replicas/);
  await expect(rendered('replica=3')).rejects.toThrow(/replica/);
});

test('the definitions can be left to somebody else', async () => {
  const kinds = (await rendered('definitions=false')).map(({ kind }) => kind);
  expect(kinds).not.toContain('CustomResourceDefinition');
  expect(kinds).toContain('Deployment');
});
