/** Reads what an operator publishes out of its Go module, in the version that is pinned. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { OperatorSource } from './sources.ts';

/** A schema as CustomResourceDefinitions have it. */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly [extension: `x-kubernetes-${string}`]: unknown;
}

export interface Version {
  readonly name: string;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: Schema };
  readonly subresources?: { readonly scale?: object; readonly status?: object };
}

export interface Definition {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly Version[];
  };
}

export interface Published {
  /** As published, with the version that is stored and nothing that needs a server of theirs. */
  readonly definition: Definition;
  readonly labels: Readonly<Record<string, string>>;
}

export function readOperator(source: OperatorSource): Published {
  const folder = download(source);
  const text = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const { definition, labels } = source;
  const published = 'crd' in definition ? stored(parse(text(definition.crd))) : fromGo(text(definition.go), definition);
  return { definition: published, labels: constantsIn(labels.files.map(text).join('\n'), labels.constants) };
}

function download({ module, version }: OperatorSource): string {
  const printed = execFileSync('go', ['mod', 'download', '-json', `${module}@${version}`], {
    cwd: tmpdir(),
    encoding: 'utf8',
    env: { ...process.env, GO111MODULE: 'on' },
  });
  return (JSON.parse(printed) as { Dir: string }).Dir;
}

/** Versions besides the stored one are converted by a webhook of theirs, which is not there. */
function stored({ apiVersion, kind, metadata, spec }: Definition): Definition {
  const { group, names, scope, versions } = spec;
  const kept = versions.filter(({ storage }) => storage);
  return { apiVersion, kind, metadata: { name: metadata.name }, spec: { group, names, scope, versions: kept } };
}

function constantsIn(text: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => {
      const found = new RegExp(`^\\s*${name}\\s+(?:string\\s+)?= "([^"]+)"`, 'm').exec(text);
      if (found?.[1] === undefined) throw new Error(`There is no constant ${name} any more`);
      return [name, found[1]];
    }),
  );
}

/** The definition that controller-gen would make of a Go type, as far as its fields and their types go. */
function fromGo(text: string, { group, type }: { readonly group: string; readonly type: string }): Definition {
  const plural = /\+kubebuilder:resource:path=(\w+)/.exec(text)?.[1];
  const version = /^package (\w+)$/m.exec(text)?.[1];
  if (plural === undefined || version === undefined) throw new Error(`${type} does not say how it is served`);
  const schema: Schema = {
    type: 'object',
    properties: { metadata: { type: 'object' }, spec: structIn(text, `${type}Spec`), status: ANYTHING },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: type, plural },
      versions: [{ name: version, storage: true, schema: { openAPIV3Schema: schema }, ...subresourcesOf(text) }],
    },
  };
}

const subresourcesOf = (text: string): Pick<Version, 'subresources'> => ({
  subresources: { status: {}, ...(/\+kubebuilder:subresource:scale/.test(text) && { scale: {} }) },
});

const ANYTHING: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const NUMBERS: ReadonlySet<string> = new Set(['int', 'int32', 'int64']);

function structIn(text: string, name: string): Schema {
  const body = new RegExp(`^type ${name} struct \\{\\n([^]*?)^\\}`, 'm').exec(text)?.[1];
  if (body === undefined) return ANYTHING;
  const fields = [...body.matchAll(/^\s+\w+\s+(\S+)\s+`json:"(\w+)[^`]*`/gm)];
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([, type = '', json = '']) => [json, typeOf(text, type)])),
  };
}

function typeOf(text: string, type: string): Schema {
  const bare = type.replace(/^\*/, '');
  if (bare.startsWith('[]')) return { type: 'array', items: typeOf(text, bare.slice(2)) };
  if (bare === 'string') return { type: 'string' };
  if (bare === 'bool') return { type: 'boolean' };
  if (NUMBERS.has(bare)) return { type: 'integer' };
  return structIn(text, bare);
}
