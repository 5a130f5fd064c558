/** From an object to the bytes that are sent, in every content type, sound and broken. */
import { stringify } from 'yaml';
import { loadSchema } from '../../../src/api/schema/index.ts';
import { encodeProtobuf } from '../../../src/apiserver/codec/protobuf/envelope.ts';
import type { Dice } from './dice.ts';
import { oddValue, places } from './mutate.ts';

export interface Body {
  readonly type: string;
  readonly bytes: Buffer;
  /** What was done to the bytes; empty when nothing. */
  readonly done: string;
}

const JSON_TYPE = 'application/json';
const YAML = 'application/yaml';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const ODD_TYPES = ['text/plain', 'application/xml', '', 'application/json; charset=utf-16', 'a/b;c=ñ', 'json', '*/*'];

export function objectBody(dice: Dice, object: unknown): Body {
  const form = dice.weighed<'json' | 'yaml' | 'protobuf'>([
    [6, 'json'],
    [2, 'yaml'],
    [2, 'protobuf'],
  ]);
  const encoded = form === 'protobuf' ? protobuf(object) : undefined;
  const body =
    encoded !== undefined
      ? damaged(dice, PROTOBUF, encoded)
      : form === 'yaml'
        ? damaged(dice, YAML, Buffer.from(yaml(dice, object)))
        : jsonBody(dice, object);
  if (!dice.chance(0.03)) return body;
  return { ...body, type: dice.pick(ODD_TYPES), done: `${body.done} odd content type`.trim() };
}

function protobuf(object: unknown): Buffer | undefined {
  if (object === null || typeof object !== 'object' || Array.isArray(object)) return undefined;
  try {
    return encodeProtobuf(object as Record<string, unknown>, loadSchema());
  } catch {
    // What has no protobuf form is sent as JSON.
    return undefined;
  }
}

/** Sometimes with a key said twice. */
function jsonBody(dice: Dice, object: unknown): Body {
  const text = JSON.stringify(object) ?? 'null';
  const from = dice.chance(0.05) ? dice.number(text.length) : text.length;
  const key = /"([^"\\]+)":/.exec(text.slice(from))?.[1];
  if (key === undefined) return damaged(dice, JSON_TYPE, Buffer.from(text));
  const twice = text.replace('{', `{${JSON.stringify(key)}:${JSON.stringify(oddValue(dice))},`);
  const body = damaged(dice, JSON_TYPE, Buffer.from(twice));
  return { ...body, done: `key said twice ${body.done}`.trim() };
}

function yaml(dice: Dice, object: unknown): string {
  const text = stringify(object);
  return dice.weighed<() => string>([
    [12, () => text],
    [1, () => `---\n${text}---\n${text}`],
    [1, () => `x: &a [1, 2]\ny: [*a, *a]\n${text}`],
    [1, () => text.replace(/: /, ': !!binary ')],
    [1, () => text.replace(/\n/, '\n\t')],
    [1, () => `%YAML 1.1\n---\n${text}`],
    [1, () => text.replace(/: .*/, ': *missing')],
    [1, () => `${text}\n? [a, b]\n: c\n`],
  ])();
}

function damaged(dice: Dice, type: string, bytes: Buffer): Body {
  if (!dice.chance(0.12)) return { type, bytes, done: '' };
  const [done, changed] = dice.weighed<() => [string, Buffer]>([
    [3, () => ['cut off', bytes.subarray(0, dice.number(bytes.length + 1))]],
    [3, () => ['byte changed', flipped(dice, bytes)]],
    [1, () => ['something after it', Buffer.concat([bytes, Buffer.from(dice.pick(['x', '\0', '{}', ' \n']))])]],
    [1, () => ['byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])]],
    [1, () => ['empty', Buffer.alloc(0)]],
    [1, () => ['no UTF-8', Buffer.concat([bytes.subarray(0, bytes.length / 2), Buffer.from([0xff, 0xc0]), bytes])]],
    [1, () => ['deep', Buffer.from('['.repeat(dice.pick([100, 20_000])))]],
    [1, () => ['noise', Buffer.from(Array.from({ length: dice.number(64) }, () => dice.number(256)))]],
  ])();
  return { type, bytes: changed, done };
}

function flipped(dice: Dice, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length > 0) copy[dice.number(copy.length)] = dice.number(256);
  return copy;
}

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

export function patchBody(dice: Dice, object: unknown): Body {
  const type = dice.pick([JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH, APPLY_PATCH]);
  const document =
    type === JSON_PATCH ? operations(dice, object) : type === APPLY_PATCH ? object : part(dice, object, type);
  const text = type === APPLY_PATCH && dice.chance(0.5) ? stringify(document) : JSON.stringify(document);
  const body = damaged(dice, type, Buffer.from(text ?? 'null'));
  if (!dice.chance(0.03)) return body;
  return { ...body, type: dice.pick([...ODD_TYPES, JSON_TYPE]), done: `${body.done} odd content type`.trim() };
}

const POINTERS = ['', '/', '/metadata', '/metadata/labels/a', '/spec', '/spec/replicas', '/data/k', '/metadata/name'];
const ODD_POINTERS = ['a', '/a~2b', '/__proto__/x', '/metadata/-', '/spec/0', '/ñ', '/metadata/labels/constructor'];

function operations(dice: Dice, object: unknown): unknown {
  if (dice.chance(0.05)) return oddValue(dice);
  const own = places(object as never).map(({ key }) => `/${String(key)}`);
  const pointer = (): string => dice.pick([...POINTERS, ...POINTERS, ...ODD_POINTERS, ...own]);
  return Array.from({ length: 1 + dice.number(4) }, () => {
    const op = dice.pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'add', 'replace', 'nothing']);
    return {
      op,
      ...(dice.chance(0.97) && { path: pointer() }),
      ...((op === 'move' || op === 'copy') && { from: pointer() }),
      ...(dice.chance(0.9) && { value: oddValue(dice) }),
    };
  });
}

const DIRECTIVES = [
  { $patch: 'delete' },
  { $patch: 'replace' },
  { $patch: 'nothing' },
  { $retainKeys: ['a'] },
  { '$deleteFromPrimitiveList/finalizers': ['x'] },
  { '$setElementOrder/containers': [{ name: 'c' }, { name: 'zz' }] },
  { $patch: null },
  { $retainKeys: 'a' },
];

/** A part of the object, with directives where they mean something, and where they don't. */
function part(dice: Dice, object: unknown, type: string): unknown {
  if (object === null || typeof object !== 'object' || Array.isArray(object)) return object;
  const keys = Object.keys(object);
  const kept = keys.filter(() => dice.chance(0.6));
  const chosen: Record<string, unknown> = Object.fromEntries(kept.map((key) => [key, Reflect.get(object, key)]));
  if (type === STRATEGIC_PATCH && dice.chance(0.2)) {
    const inside = [chosen, chosen['metadata'], chosen['spec']].filter(
      (value): value is Record<string, unknown> => value !== null && typeof value === 'object' && !Array.isArray(value),
    );
    Object.assign(dice.pick(inside), dice.pick(DIRECTIVES));
  }
  return chosen;
}
