/** Small changes to an object, each with a name that the report groups by. */
import type { Dice } from './dice.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Parent = Json[] | { [key: string]: Json };

interface Place {
  readonly parent: Parent;
  readonly key: string | number;
}

const TEXTS = [
  '',
  ' ',
  'ñandú',
  '漢字',
  '\u0000',
  '\uFFFF',
  '😀',
  'a'.repeat(300),
  'x/y/z',
  '..',
  '%2e',
  '-1',
  '1e400',
  '0x10',
  '100Ei',
  '1h',
  '2020-13-45T99:99:99Z',
  '2024-01-01T00:00:00Z',
  '10.0.0.1',
  '::1',
  '\\d+(',
  '{{.}}',
  '__proto__',
  'constructor',
  'null',
  'true',
];
const NUMBERS = [0, -1, 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1.5, -0.0001, 1e300, 65536, 600];
const KEYS = [
  'unknown',
  'ключ',
  '漢',
  '',
  'a b',
  '__proto__',
  'constructor',
  'toString',
  'kind',
  '$patch',
  '\u0001',
  'ÿ',
];

export function places(value: Json, found: Place[] = []): Place[] {
  if (Array.isArray(value)) {
    value.forEach((item, key) => {
      found.push({ parent: value, key });
      places(item, found);
    });
  } else if (value !== null && typeof value === 'object') {
    for (const key of Object.keys(value)) {
      found.push({ parent: value, key });
      places(value[key] as Json, found);
    }
  }
  return found;
}

const get = ({ parent, key }: Place): Json => (parent as Record<string | number, Json>)[key] as Json;

function set({ parent, key }: Place, value: Json): void {
  // `__proto__` as a key of its own, as a parser of JSON makes it.
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
}

function drop({ parent, key }: Place): void {
  if (Array.isArray(parent)) parent.splice(key as number, 1);
  else delete parent[key];
}

export function oddValue(dice: Dice): Json {
  return dice.weighed<() => Json>([
    [3, () => null],
    [3, () => dice.pick(TEXTS)],
    [3, () => dice.pick(NUMBERS)],
    [2, () => dice.chance(0.5)],
    [2, () => []],
    [2, () => ({})],
    [1, () => [null]],
    [1, () => [[]]],
    [1, () => [{}]],
    [1, () => ({ [dice.pick(KEYS)]: dice.pick(TEXTS) })],
    [1, () => nested(dice.pick([3, 40]))],
  ])();
}

function nested(depth: number): Json {
  let value: Json = 'deep';
  for (let at = 0; at < depth; at += 1) value = at % 2 === 0 ? { n: value } : [value];
  return value;
}

const METADATA_FIELDS = [
  'name',
  'namespace',
  'generateName',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
  'selfLink',
];
const TOP_FIELDS = [
  'metadata',
  'spec',
  'status',
  'data',
  'kind',
  'apiVersion',
  'rules',
  'subjects',
  'roleRef',
  'webhooks',
];

type Mutation = (dice: Dice, object: { [key: string]: Json }) => Json;

export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  none: (_dice, object) => object,
  'odd value': (dice, object) => {
    const all = places(object);
    if (all.length > 0) set(dice.pick(all), oddValue(dice));
    return object;
  },
  'odd top field': (dice, object) => {
    set({ parent: object, key: dice.pick(TOP_FIELDS) }, oddValue(dice));
    return object;
  },
  'odd metadata': (dice, object) => {
    const metadata = object['metadata'];
    if (metadata !== null && typeof metadata === 'object' && !Array.isArray(metadata)) {
      set({ parent: metadata, key: dice.pick(METADATA_FIELDS) }, oddValue(dice));
    }
    return object;
  },
  'field dropped': (dice, object) => {
    const all = places(object);
    if (all.length > 0) drop(dice.pick(all));
    return object;
  },
  'unknown field': (dice, object) => {
    const inside = places(object).filter((place) => {
      const value = get(place);
      return value !== null && typeof value === 'object' && !Array.isArray(value);
    });
    const into = inside.length > 0 ? (get(dice.pick(inside)) as { [key: string]: Json }) : object;
    set({ parent: into, key: dice.pick(KEYS) }, oddValue(dice));
    return object;
  },
  'many unknown fields': (dice, object) => {
    const count = dice.pick([10, 200, 2000]);
    for (let at = 0; at < count; at += 1) object[`unknown${at}é`] = at;
    return object;
  },
  'item repeated': (dice, object) => {
    const lists = places(object).filter((place) => Array.isArray(get(place)));
    if (lists.length === 0) return object;
    const list = get(dice.pick(lists)) as Json[];
    const count = dice.pick([1, 2, 100]);
    for (let at = 0; at < count && list.length > 0; at += 1) list.push(structuredClone(list[0] as Json));
    return object;
  },
  'values swapped': (dice, object) => {
    const all = places(object);
    if (all.length < 2) return object;
    const [one, other] = [dice.pick(all), dice.pick(all)];
    const value = structuredClone(get(one));
    set(one, structuredClone(get(other)));
    if (places(object).some(({ parent, key }) => parent === other.parent && key === other.key)) set(other, value);
    return object;
  },
  'another kind': (dice, object) => {
    object['kind'] = dice.pick(['Pod', 'List', 'Status', 'Nothing', '', 'ñ', 'DeleteOptions', 'Table']);
    if (dice.chance(0.5)) object['apiVersion'] = dice.pick(['v1', 'v2', 'apps/v1', '', 'a/b/c', 'meta.k8s.io/v1']);
    return object;
  },
  'not an object': (dice) => oddValue(dice),
};

export const MUTATION_NAMES = Object.keys(MUTATIONS);
