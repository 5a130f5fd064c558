/** Patches of every kind, on an object that is stored already. The input is the patch. */
import { isDeepStrictEqual } from 'node:util';
import { loadSchema, nodeOfKind, type ObjectNode } from '../../src/api/schema/index.ts';
import { parseJson } from '../../src/apiserver/codec/index.ts';
import {
  applyJsonPatch,
  applyMergePatch,
  applyServerSide,
  applyStrategicMergePatch,
  conflictMessage,
  PatchError,
} from '../../src/apiserver/patch/index.ts';
import { deepClone, isObject, type JsonObject } from '../../src/machinery/values/index.ts';
import { Broken, expectJson, refusalOr, shapeOf, type Subject } from './subject.ts';

const found = nodeOfKind(loadSchema(), { group: 'apps', version: 'v1', kind: 'Deployment' });
if (found === undefined) throw new Error('Deployment must be known');
const node: ObjectNode = found;

const original = (): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', namespace: 'n', labels: { app: 'a' }, finalizers: ['x/y', 'x/z'] },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'a' } },
    template: {
      metadata: { labels: { app: 'a' } },
      spec: {
        containers: [
          {
            name: 'one',
            image: 'i',
            ports: [{ containerPort: 80, protocol: 'TCP' }],
            env: [{ name: 'A', value: '1' }],
          },
          { name: 'two', image: 'j' },
        ],
        tolerations: [{ key: 'a', operator: 'Exists' }],
      },
    },
  },
});

const words = [
  '"spec":',
  '"metadata":',
  '"template":',
  '"containers":',
  '"name":"one"',
  '"$patch":"delete"',
  '"$patch":"replace"',
  '"$retainKeys":["a"]',
  '"$setElementOrder/containers":[{"name":"two"}]',
  '"$deleteFromPrimitiveList/finalizers":["x/y"]',
  'null',
  '[]',
  '{}',
  '"op":"add"',
  '"op":"move"',
  '"op":"copy"',
  '"op":"test"',
  '"path":"/spec/replicas"',
  '"from":"/spec"',
  '/-',
  '/0',
  '~1',
  '~0',
  '__proto__',
  '"value":',
];

type Patch = (target: JsonObject, patch: unknown) => JsonObject;

/** `isStable`: what was patched, patched again, stays the same. */
function patchSubject(name: string, patch: Patch, isStable = false): Subject {
  return {
    name,
    weight: 6,
    words,
    attempt: (input) =>
      refusalOr([PatchError], input, () => {
        const document = parse(input);
        if (document === undefined) return 'no JSON';
        const [before, sent] = [original(), deepClone(document)];
        const result = patch(before, document);
        if (!isDeepStrictEqual(before, original())) throw new Broken('the patch changed the stored object');
        if (!isDeepStrictEqual(document, sent)) throw new Broken('the patch was changed itself');
        expectJson(result);
        if (isStable && !isDeepStrictEqual(patch(result, document), result))
          throw new Broken(`patched again it is another: ${JSON.stringify(patch(result, document)).slice(0, 300)}`);
        if (Object.getPrototypeOf({}) !== Object.prototype || 'polluted' in {})
          throw new Broken('prototypes are changed');
        return shapeOf(result);
      }),
  };
}

function parse(input: Buffer): unknown {
  try {
    return parseJson(input.toString('utf8')).value;
  } catch {
    return undefined;
  }
}

/** The server passes on only what is a map. */
function expectMap(patch: unknown): asserts patch is JsonObject {
  if (!isObject(patch)) throw new PatchError('BadRequest', 'the patch is not an object');
}

function applied(live: JsonObject, config: unknown): JsonObject {
  expectMap(config);
  const outcome = applyServerSide({
    live,
    config: deepClone(config),
    node,
    manager: 'm',
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    force: true,
    now: '2026-01-01T00:00:01Z',
  });
  if (!outcome.applied) throw new PatchError('Invalid', conflictMessage(outcome.conflicts));
  const { managedFields, object } = outcome;
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), managedFields: managedFields as never } };
}

export const patches: readonly Subject[] = [
  patchSubject('json-patch', (target, patch) => applyJsonPatch(target, patch)),
  patchSubject('merge-patch', (target, patch) => (expectMap(patch), applyMergePatch(target, patch)), true),
  patchSubject(
    'strategic-merge-patch',
    (target, patch) => (expectMap(patch), applyStrategicMergePatch(node, target, patch)),
  ),
  patchSubject('apply', applied, true),
];
