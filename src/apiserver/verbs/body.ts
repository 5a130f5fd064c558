/** The request body as an object in stored form. */
import type { Call } from '../context/call.ts';
import type { ApiObject } from '../exchange/object.ts';
import { apiVersion } from '../registry/resource.ts';
import { bodyType } from '../request/negotiate.ts';
import { badRequest } from '../exchange/status.ts';

/** The body in stored form, for a create. */
export function readObject(call: Call): ApiObject {
  return toStored(call, readServed(call));
}

/** The body as sent, in the version of the request. */
export function readServed(call: Call): ApiObject {
  const { resource, version, context, request } = call;
  const expected = { apiVersion: apiVersion(resource.group, version.name), kind: resource.kind };
  const { object, problems } = context.codec.decode({
    bytes: request.body ?? new Uint8Array(),
    mediaType: bodyType(request.headers['content-type']),
    expected,
    resource,
    yaml: call.yaml,
  });
  checkType(call, object, expected);
  reportProblems(call, problems, (text) =>
    badRequest(`${resource.kind} in version "${version.name}" cannot be handled as a ${resource.kind}: ${text}`),
  );
  object.metadata ??= {};
  return object;
}

export function toStored(call: Call, object: ApiObject, existing?: ApiObject): ApiObject {
  const stored = call.version.toStored === undefined ? object : call.version.toStored(object, existing);
  stored.kind = call.resource.kind;
  stored.apiVersion = apiVersion(call.resource.stored.group, call.resource.stored.version);
  return stored;
}

function checkType(call: Call, object: ApiObject, expected: { apiVersion: string; kind: string }): void {
  if (object.kind && object.kind !== expected.kind) {
    throw badRequest(
      `${object.kind} in version "${call.version.name}" cannot be handled as a ${expected.kind}: ` +
        `the body is of kind ${object.kind} but the path is for ${expected.kind}`,
    );
  }
  if (object.apiVersion && object.apiVersion !== expected.apiVersion) {
    throw badRequest(
      `the API version in the data (${object.apiVersion}) does not match the expected API version (${expected.apiVersion})`,
    );
  }
}

/** Unknown and duplicate fields: refused, warned about or passed over, as the request asked. */
export function reportProblems(call: Call, problems: readonly string[], refuse: (text: string) => Error): void {
  if (problems.length === 0 || call.options.fieldValidation === 'Ignore') return;
  if (call.options.fieldValidation === 'Strict') throw refuse(`strict decoding error: ${problems.join(', ')}`);
  call.warnings.push(...problems);
}
