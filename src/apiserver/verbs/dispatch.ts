/** Sends a resource request to its verb. That there is such a route was checked (`request/route.ts`). */
import { isUtf8 } from 'node:buffer';
import { type Call, nameOf } from '../context/call.ts';
import { readYamlApart } from '../codec/index.ts';
import type { ReadYaml } from '../context/codec.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import { LIMITS } from '../exchange/limits.ts';
import type { ApiObject } from '../exchange/object.ts';
import { apiVersion, type Verb } from '../registry/resource.ts';
import type { Subresource, SubresourceVerb } from '../registry/subresource.ts';
import { bodyType, negotiate } from '../request/negotiate.ts';
import { encodeAnswer } from '../response/respond.ts';
import { whenWritten } from '../stored/pending-writes.ts';
import { badRequest, noSuchResource } from '../exchange/status.ts';
import { admit, admitInTransaction, attributesOf, validateAdmission } from './admit.ts';
import { readObject, reportProblems } from './body.ts';
import { create, optionsOf } from './create.ts';
import { remove } from './delete.ts';
import { deleteCollection } from './delete-collection.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { isInner } from './inner-subresource.ts';
import { patch } from './patch.ts';
import { update } from './update.ts';
import { watch } from './watch.ts';

const HANDLERS: Readonly<Record<Verb, (call: Call) => Promise<ApiResponse>>> = {
  create,
  delete: remove,
  deletecollection: deleteCollection,
  get,
  list,
  patch,
  update,
  watch,
};

export function dispatch(call: Call): Promise<ApiResponse> {
  const reading = largeYaml(call);
  return reading === undefined ? run(call) : reading.then((yaml) => run({ ...call, yaml }));
}

/** A YAML body that takes long is read before the call begins, elsewhere. */
function largeYaml({ request, user }: Call): Promise<ReadYaml> | undefined {
  const { body, headers } = request;
  if (body === undefined || body.length <= LIMITS.yamlReadAtOnce) return undefined;
  const isYaml = /^\s*application\/(?:yaml|apply-patch\+yaml)\s*(?:;|$)/i.test(headers['content-type'] ?? '');
  // What is no text is refused at once.
  return isYaml && isUtf8(body) ? readYamlApart(Buffer.from(body).toString('utf8'), user.username) : undefined;
}

const READS: ReadonlySet<string | undefined> = new Set(['get', 'list', 'watch']);

function run(call: Call): Promise<ApiResponse> {
  const answer = answerOf(call);
  return READS.has(call.info.verb) ? answer : answer.catch((refusal: unknown) => refuseWhenDurable(call, refusal));
}

/**
 * Writes are computed from what may still be on its way to disk, and are refused because of it. The refusal waits until
 * that is there, and falls with it: whoever reads again sees why and tries no more with what is outdated, and a server that
 * dies must not have told of what never was.
 */
async function refuseWhenDurable({ context }: Call, refusal: unknown): Promise<never> {
  await whenWritten(context.store);
  throw refusal;
}

function answerOf(call: Call): Promise<ApiResponse> {
  const { resource, info } = call;
  const { verb } = info;
  if (info.subresource !== undefined) {
    const subresource = resource.subresources.get(info.subresource) as Subresource;
    return isInner(subresource) ? subresource.run(call) : subresource.handle(subresourceCall(call, subresource));
  }
  return resource.review === undefined ? HANDLERS[verb as Verb](call) : answerReview(call);
}

/** A resource that is only computed: nothing is stored and admission is not asked. */
async function answerReview(call: Call): Promise<ApiResponse> {
  const { info, user, resource, version, request } = call;
  const accepted = negotiate(request.headers['accept'], { allowed: new Set(), protobuf: true });
  const { namespace } = info;
  const answer = await resource.review?.(readObject(call), { user, namespace });
  if (answer === undefined) throw noSuchResource();
  const { kind: _kind, apiVersion: _version, ...rest } = answer;
  const document = { kind: resource.kind, apiVersion: apiVersion(resource.group, version.name), ...rest };
  return encodeAnswer(call, 201, document, accepted);
}

function subresourceCall(call: Call, subresource: Subresource): Parameters<Subresource['handle']>[0] {
  const { resource, version, info, options, request, context } = call;
  const kind = {
    group: subresource.kind.group ?? resource.group,
    version: subresource.kind.version ?? version.name,
    kind: subresource.kind.kind,
  };
  return {
    verb: info.verb as SubresourceVerb,
    version: version.name,
    namespace: info.namespace,
    name: info.name ?? '',
    user: call.user,
    request,
    options,
    warnings: call.warnings,
    rest: info.rest,
    body(): ApiObject {
      const { object, problems } = context.codec.decode({
        bytes: request.body ?? new Uint8Array(),
        mediaType: bodyType(request.headers['content-type']),
        expected: { apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`, kind: kind.kind },
        yaml: call.yaml,
      });
      if (object.kind && object.kind !== kind.kind) {
        throw badRequest(`${object.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}`);
      }
      reportProblems(call, problems, (text) =>
        badRequest(`${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${text}`),
      );
      object.metadata ??= {};
      return object;
    },
    async admit(object, oldObject) {
      const attributes = attributesOf(call, {
        operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
        name: info.name === undefined ? undefined : nameOf(call),
        namespace: info.namespace,
        object,
        oldObject,
        options: optionsOf(call, 'CreateOptions'),
        kind,
      });
      const pending = admit(call, attributes);
      if (pending !== undefined) await pending;
      const checking = validateAdmission(call, attributes);
      if (checking !== undefined) await checking;
      if (attributes.object === undefined) throw new Error('An admission plugin removed the object of a request');
      return {
        object: attributes.object,
        inTransaction: (transaction) => admitInTransaction(call, attributes, transaction),
      };
    },
    answer: (status, object) =>
      encodeAnswer(call, status, object, negotiate(request.headers['accept'], { allowed: new Set(), protobuf: true })),
  };
}
