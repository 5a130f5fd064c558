import { isUtf8 } from 'node:buffer';
import {
  type CollectionTag,
  type Document,
  isCollection,
  isScalar,
  LineCounter,
  parseDocument,
  type ScalarTag,
  type Tags,
  visit,
} from 'yaml';
import { LIMITS } from '../../exchange/limits.ts';
import { DecodeError, TooLargeError } from '../decode-error.ts';
import { checkValues, parseJson } from '../json/parse.ts';
import { checkYamlSize } from './count.ts';
import { nestingBound } from './nesting.ts';
import { checkTabs } from './tabs.ts';

const MAX_DEPTH = LIMITS.yamlDepth;

export interface ParsedYaml {
  readonly value: unknown;
  /** `line 3: key "replicas" already set in map`. */
  readonly duplicates: readonly string[];
}

/** What kubectl reads: YAML 1.1 scalars, but dates stay text and colons make no base-60 numbers. */
function withoutTimes(tags: Tags): Tags {
  return tags.filter((tag): tag is CollectionTag | ScalarTag => {
    if (typeof tag === 'string') return tag !== 'timestamp' && tag !== 'intTime' && tag !== 'floatTime';
    return tag.tag !== 'tag:yaml.org,2002:timestamp' && (tag as { format?: string }).format !== 'TIME';
  });
}

/** The text of a YAML body; bytes that are not UTF-8 are refused, as a reader of YAML does. */
export function yamlText(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new DecodeError('yaml: invalid UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

// oxlint-disable-next-line no-control-regex -- these are the characters that YAML does not have
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]/;

/** Parses one YAML document into JSON data. JSON is YAML too, and most of what calls itself YAML is JSON. */
export function parseYaml(text: string): ParsedYaml {
  const json = jsonInYaml(text);
  if (json !== undefined) return json;
  const read = yamlToJson(text);
  return { value: JSON.parse(read.json) as unknown, duplicates: read.duplicates };
}

/** The value of a text that is JSON; undefined where it is not, or has repeated keys, which YAML tells of by their lines. */
export function jsonInYaml(text: string): ParsedYaml | undefined {
  if (!/^\s*\{/.test(text) || CONTROL.test(text)) return undefined;
  try {
    const { repeated, value } = parseJson(text);
    return repeated === undefined ? { value, duplicates: [] } : undefined;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** The same as JSON text. */
export function yamlToJson(text: string): { readonly json: string; readonly duplicates: readonly string[] } {
  if (nestingBound(text) > MAX_DEPTH) throw new DecodeError(`exceeded max depth of ${MAX_DEPTH}`);
  if (CONTROL.test(text)) throw new DecodeError('yaml: control characters are not allowed');
  checkYamlSize(text);
  checkTabs(text);
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, {
      version: '1.1',
      uniqueKeys: false,
      lineCounter: lines,
      customTags: withoutTimes,
      logLevel: 'silent',
      // They would quote the line for every error, and only the first one is told.
      prettyErrors: false,
    });
    const [error] = document.errors;
    if (error !== undefined) {
      const { col, line } = lines.linePos(error.pos[0]);
      throw new DecodeError(`yaml: ${firstLine(error.message)} at line ${line}, column ${col}`);
    }
    const duplicates = duplicatesIn(document, text, lines);
    const json = toJson(document.toJS({ maxAliasCount: 100 }));
    checkValues(json);
    return { json, duplicates };
  } catch (error) {
    if (error instanceof DecodeError || error instanceof TooLargeError) throw error;
    throw new DecodeError(`yaml: ${firstLine((error as Error).message)}`, { cause: error });
  }
}

function duplicatesIn(document: Document, text: string, lines: LineCounter): string[] {
  const duplicates: string[] = [];
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (isCollection(key)) throw new DecodeError('yaml: invalid map key');
        if (!isScalar(key)) continue;
        if (map.flow === true && key.type === 'PLAIN') checkFlowKey(text, key.range?.[1] ?? 0);
        const name = String(key.value);
        if (seen.has(name)) {
          const { line } = lines.linePos(key.range?.[0] ?? 0);
          duplicates.push(`line ${line}: key ${JSON.stringify(name)} already set in map`);
          if (duplicates.length >= LIMITS.fieldProblems) return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return duplicates;
}

/** To YAML 1.1 the colon of `{a:{}}` is part of the plain key, which then has no value; YAML 1.2 reads a map. */
function checkFlowKey(text: string, end: number): void {
  if (text[end] === ':' && (text[end + 1] === '{' || text[end + 1] === '['))
    throw new DecodeError("yaml: did not find expected ',' or '}'");
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? text;

/** JSON data only: YAML knows numbers and types JSON does not. */
function toJson(value: unknown): string {
  const text: string | undefined = JSON.stringify(value, function replace(this: unknown, key, member: unknown) {
    if (typeof member === 'bigint') return Number(member);
    // Asked for itself: what comes in `member` has been through its `toJSON`.
    const given = (this as Record<string, unknown>)[key];
    if (given instanceof Uint8Array) return Buffer.from(given).toString('utf8');
    if (member instanceof Set) return [...member];
    return member;
  });
  return text ?? 'null';
}
