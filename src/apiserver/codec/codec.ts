import { loadSchema, type Schema } from '../../api/schema/index.ts';
import { splitApiVersion } from '../../api/resource.ts';
import {
  deepClone,
  FieldPath,
  invalid as invalidValue,
  isObject,
  type JsonObject,
} from '../../machinery/values/index.ts';
import type { Codec, Decoded, DecodeRequest } from '../codec-seam.ts';
import type { ApiObject } from '../object.ts';
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch, PatchError } from '../patch/index.ts';
import { apiVersion, type ResourceRow } from '../registry/row.ts';
import { badRequest, failure, invalid, tooLarge, unsupportedMediaType } from '../status.ts';
import { DecodeError, TooLargeError } from './decode-error.ts';
import { createFieldManager } from './field-manager.ts';
import { type ParsedJson, parseJson } from './json/parse.ts';
import { type KindSchema, kindSchemaOf, nodeOf } from './kind-schema.ts';
import { describeProblems } from './problems.ts';
import { decodeProtobuf } from './protobuf/envelope.ts';
import { RepeatedBodies } from './repeated-bodies.ts';
import { type KnownSpec, RepeatedSpecs } from './repeated-specs.ts';
import { pruneCustom } from './structural/index.ts';
import { conform } from './typed/conform.ts';
import { parseYaml } from './yaml/parse.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Bodies and patches by the schema: of built-in kinds the generated one, of custom resources their own. */
export function createCodec(schema: Schema = loadSchema()): Codec {
  const repeats = { bodies: new RepeatedBodies(), specs: new RepeatedSpecs() };
  return {
    decode: (request) => decode(schema, request, repeats),
    prune: (row, version, object) => prune(schema, row, version, object),
    strategicMerge: (row, version, current, patch) => {
      const kind = kindSchemaOf(schema, row, { apiVersion: apiVersion(row.group, version), kind: row.kind });
      if (kind === undefined || kind.custom) throw unsupportedMediaType('', ['application/merge-patch+json']);
      return patched(() => applyStrategicMergePatch(nodeOf(kind), current, patch));
    },
    mergePatch: (current, patch) => patched(() => applyMergePatch(current, patch)),
    jsonPatch: (current, operations) => patched(() => applyJsonPatch(current, operations)),
    fields: createFieldManager(schema),
  };
}

function patched(run: () => JsonObject): ApiObject {
  try {
    return run() as ApiObject;
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    // The real server gives no reason for what it calls internal.
    throw failure(error.code, error.reason === 'InternalError' ? '' : error.reason, error.message);
  }
}

interface Repeats {
  readonly bodies: RepeatedBodies;
  readonly specs: RepeatedSpecs;
}

function decode(schema: Schema, request: DecodeRequest, { bodies, specs }: Repeats): Decoded {
  const { bytes, mediaType, expected, row } = request;
  if (mediaType === PROTOBUF && row?.custom === true) {
    throw unsupportedMediaType(mediaType, ['application/json', 'application/yaml']);
  }
  try {
    if (mediaType === PROTOBUF) return { object: decodeProtobuf(bytes, schema, expected) as ApiObject, problems: [] };
    return bodies.decoded(request, () =>
      specs.decoded(request, (text, known) => decodeText(schema, request, text, known)),
    );
  } catch (error) {
    if (error instanceof TooLargeError) throw tooLarge(error.message);
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${error.message}`);
  }
}

function decodeText(
  schema: Schema,
  { mediaType, expected, row, yaml: read }: DecodeRequest,
  text: string,
  known: KnownSpec | undefined,
): Decoded | undefined {
  if (text.trim() === '') {
    throw new DecodeError("couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)");
  }
  const yaml = mediaType === 'application/yaml' ? (read?.() ?? parseYaml(text)) : undefined;
  const json = yaml === undefined ? parseBody(text) : undefined;
  const value = yaml === undefined ? json?.value : yaml.value;
  if (!isObject(value)) throw new DecodeError("couldn't get version/kind; json parse error: the body is not an object");
  for (const field of ['kind', 'apiVersion']) {
    const given = value[field];
    if (given === undefined || given === null || typeof given === 'string') continue;
    const found = Array.isArray(given) ? 'array' : typeof given;
    throw new DecodeError(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go struct field .${field} of type string`,
    );
  }
  const type = {
    apiVersion:
      typeof value.apiVersion === 'string' && value.apiVersion !== '' ? value.apiVersion : expected.apiVersion,
    kind: typeof value.kind === 'string' && value.kind !== '' ? value.kind : expected.kind,
  };
  if (known !== undefined) {
    if (value.spec !== known.mark || type.apiVersion !== known.apiVersion || type.kind !== known.kind) return undefined;
    value.spec = {};
  }
  const unknown = fit(value, kindSchemaOf(schema, row, type), type);
  value.apiVersion = type.apiVersion;
  value.kind = type.kind;
  if (known !== undefined) value.spec = deepClone(known.spec);
  const problems = [...(yaml?.duplicates ?? []), ...describeProblems(unknown, json?.repeated)];
  return { object: value as ApiObject, problems };
}

function parseBody(text: string): ParsedJson {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new DecodeError(`couldn't get version/kind; json parse error: ${error.message}`, { cause: error });
  }
}

/** Brings the object into the form of its kind, in place; returns the fields the kind does not have. */
function fit(
  object: JsonObject,
  kind: KindSchema | undefined,
  type: { readonly apiVersion: string; readonly kind: string },
): string[] {
  try {
    if (kind === undefined) {
      throw new DecodeError(
        `no kind ${JSON.stringify(type.kind)} is registered for version ${JSON.stringify(type.apiVersion)} in scheme`,
      );
    }
    if (kind.custom) return pruneCustom(object, kind.schema);
    const unknown = conform(object, kind.struct);
    if (kind.struct.properties.has('metadata')) object.metadata ??= {};
    return unknown;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { version } = splitApiVersion(type.apiVersion);
    throw badRequest(
      `${type.kind} in version ${JSON.stringify(version)} cannot be handled as a ${type.kind}: ${error.message}`,
    );
  }
}

function prune(schema: Schema, row: ResourceRow, version: string, object: ApiObject): string[] {
  const kind = kindSchemaOf(schema, row, { apiVersion: apiVersion(row.group, version), kind: row.kind });
  if (kind === undefined) return [];
  try {
    return describeProblems(kind.custom ? pruneCustom(object, kind.schema) : conform(object, kind.struct), undefined);
  } catch (error) {
    if (error instanceof TooLargeError) throw tooLarge(error.message);
    if (!(error instanceof DecodeError)) throw error;
    // What does not fit may be the name itself.
    const name: unknown = object.metadata.name;
    throw invalid(row, typeof name === 'string' ? name : '', [
      invalidValue(FieldPath.of('patch'), null, error.message),
    ]);
  }
}
