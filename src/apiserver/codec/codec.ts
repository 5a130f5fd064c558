import { isUtf8 } from 'node:buffer';
import { loadSchema, type Schema } from '../../api/schema/index.ts';
import { splitApiVersion } from '../../api/resource.ts';
import { FieldPath, invalid as invalidValue, isObject, type JsonObject } from '../../machinery/values/index.ts';
import type { Codec, Decoded, DecodeRequest } from '../context/codec.ts';
import type { ApiObject } from '../exchange/object.ts';
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch, PatchError } from '../patch/index.ts';
import { apiVersion, type Resource } from '../registry/resource.ts';
import { badRequest, failure, invalid, tooLarge, unsupportedMediaType } from '../exchange/status.ts';
import { textOf } from './body-bytes.ts';
import { DecodeError, TooLargeError } from './decode-error.ts';
import { createFieldManager } from './field-manager.ts';
import { type ParsedJson, parseJson } from './json/parse.ts';
import { type KindSchema, kindSchemaOf, nodeOf } from './kind-schema.ts';
import { describeProblems } from './problems.ts';
import { decodeProtobuf } from './protobuf/envelope.ts';
import { pruneCustom } from './structural/index.ts';
import { conform } from './typed/conform.ts';
import { parseYaml } from './yaml/parse.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Bodies and patches by the schema: of built-in kinds the generated one, of custom resources their own. */
export function createCodec(schema: Schema = loadSchema()): Codec {
  return {
    decode: (request) => decode(schema, request),
    prune: (resource, version, object) => prune(schema, resource, version, object),
    strategicMerge: (resource, version, current, patch) => {
      const kind = kindSchemaOf(schema, resource, {
        apiVersion: apiVersion(resource.group, version),
        kind: resource.kind,
      });
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

function decode(schema: Schema, request: DecodeRequest): Decoded {
  const { bytes, mediaType, expected, resource } = request;
  if (mediaType === PROTOBUF && resource?.custom === true) {
    throw unsupportedMediaType(mediaType, ['application/json', 'application/yaml']);
  }
  try {
    if (mediaType === 'application/yaml' && !isUtf8(bytes)) throw new DecodeError('yaml: invalid UTF-8');
    if (mediaType === PROTOBUF) return { object: decodeProtobuf(bytes, schema, expected) as ApiObject, problems: [] };
    return decodeText(schema, request);
  } catch (error) {
    if (error instanceof TooLargeError) throw tooLarge(error.message);
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${error.message}`);
  }
}

function decodeText(schema: Schema, { bytes, mediaType, expected, resource, yaml: read }: DecodeRequest): Decoded {
  const text = textOf(bytes);
  if (text.trim() === '' && mediaType !== 'application/yaml') {
    throw new DecodeError("couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)");
  }
  const yaml = mediaType === 'application/yaml' ? (read?.() ?? parseYaml(text)) : undefined;
  const json = yaml === undefined ? parseBody(text) : undefined;
  // Nothing is an object that says nothing.
  const value = (yaml === undefined ? json?.value : yaml.value) ?? {};
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
  const unknown = fit(value, kindSchemaOf(schema, resource, type), type);
  value.apiVersion = type.apiVersion;
  value.kind = type.kind;
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

function prune(schema: Schema, resource: Resource, version: string, object: ApiObject): string[] {
  const kind = kindSchemaOf(schema, resource, { apiVersion: apiVersion(resource.group, version), kind: resource.kind });
  if (kind === undefined) return [];
  try {
    return describeProblems(kind.custom ? pruneCustom(object, kind.schema) : conform(object, kind.struct), undefined);
  } catch (error) {
    if (error instanceof TooLargeError) throw tooLarge(error.message);
    if (!(error instanceof DecodeError)) throw error;
    // What does not fit may be the name itself.
    const name: unknown = object.metadata.name;
    throw invalid(resource, typeof name === 'string' ? name : '', [
      invalidValue(FieldPath.of('patch'), null, error.message),
    ]);
  }
}
