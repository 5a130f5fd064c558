/**
 * The API server without its sockets: request → authenticate → authorize → decode → admission → strategy → one store
 * transaction → response.
 */
import { randomUUID } from 'node:crypto';
import {
  type Clock,
  enterRequest,
  leaveRequest,
  type Logger,
  silentLogger,
  systemClock,
} from '../../machinery/runtime/index.ts';
import type { Store } from '../../storage/index.ts';
import { allowAll, type Authorizer } from '../access/access.ts';
import { Aggregator, type ProxyIdentity } from '../aggregation/index.ts';
import type { AdmissionPlugin } from '../context/admission-plugin.ts';
import { authorizePath, authorizeResource } from '../access/authorize.ts';
import { createCodec } from '../codec/index.ts';
import type { Codec } from '../context/codec.ts';
import { costOf, type Flow, FlowControl, type FlowControlOptions } from '../flow-control/index.ts';
import { DiscoveryDocuments } from '../discovery/discovery.ts';
import { OpenApi, openApiRoute } from '../openapi/index.ts';
import type { ApiHandler, ApiRequest, ApiResponse } from '../exchange/exchange.ts';
import { plainName } from '../measure/labels.ts';
import { Meters } from '../measure/meters.ts';
import type { RequestTiming } from '../measure/request-meter.ts';
import { answerFailure } from '../response/failed-exchange.ts';
import type { ServerContext } from '../context/server-context.ts';
import { nodeMetrics } from '../kinds/metrics/node-metrics.ts';
import { podMetrics } from '../kinds/metrics/pod-metrics.ts';
import { answerMetrics, metricGroups } from '../kinds/metrics/set-metrics.ts';
import {
  discoveryRoute,
  documentRoute,
  type HealthCheck,
  healthRoute,
  notFoundRoute,
  type PlainRoute,
  versionRoute,
} from '../routes/plain-routes.ts';
import { Registry } from '../registry/registry.ts';
import type { Resource } from '../registry/resource.ts';
import { targetOf } from '../request/info.ts';
import { checkAcceptable } from '../request/negotiate.ts';
import { type OptionsKind, parseOptions } from '../request/options.ts';
import { checkRoute } from './route.ts';
import { noSuchResource } from '../exchange/status.ts';
import type { StoredReads } from '../stored/kind-view.ts';
import { ObjectCache } from '../stored/object-cache.ts';
import { observeWrites } from '../stored/pending-writes.ts';
import { WatchLines } from '../stored/watch-lines.ts';
import { anonymous, type UserInfo } from '../exchange/user.ts';
import { dispatch } from '../verbs/dispatch.ts';

/** Who may do what; without it everyone is who the in-process caller says, and may do everything. */
export interface AccessControl {
  /** Who makes the request; throws 401, or 403 for an impersonation that is not allowed. */
  identify(request: ApiRequest): UserInfo | Promise<UserInfo>;
  readonly authorizer: Authorizer;
  readonly plugins?: readonly AdmissionPlugin[];
  /** Answers paths of its own, such as the keys of service-account tokens. */
  plain?(path: string): ApiResponse | undefined;
  stop?(): void;
}

export interface ApiServerOptions {
  readonly store: Store;
  readonly resources: Iterable<Resource>;
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly random?: () => number;
  readonly newUid?: () => string;
  readonly codec?: Codec;
  /** Built around the registry and the store. */
  readonly access?: (reads: StoredReads) => AccessControl;
  /** Built around the context, in the order they run. */
  readonly admission?: (context: ServerContext) => readonly AdmissionPlugin[];
  readonly routes?: (context: ServerContext) => readonly PlainRoute[];
  readonly health?: readonly HealthCheck[];
  /** Requests from outside begin when it is their turn; absent: at once. */
  readonly flowControl?: FlowControlOptions;
  /** Sends requests on to the servers of APIServices, which know us by this certificate; absent: there are none. */
  readonly proxyIdentity?: ProxyIdentity;
}

export interface ApiServer {
  readonly handle: ApiHandler;
  readonly context: ServerContext;
  readonly aggregator: Aggregator | undefined;
  /** Ends every open watch. The store stays open: it is the caller's. */
  close(): void;
}

export function createApiServer(options: ApiServerOptions): ApiServer {
  const clock = options.clock ?? systemClock;
  const meters = new Meters(clock);
  const { store, writes } = observeWrites(options.store, meters.store);
  const registry = new Registry();
  for (const resource of options.resources) registry.add(resource);
  const objects = new ObjectCache();
  const access = options.access?.({ registry, store, objects }) ?? openAccess;
  const admission: AdmissionPlugin[] = [];
  const context: ServerContext = {
    store,
    writes,
    registry,
    admission,
    authorizer: access.authorizer,
    clock,
    log: options.log ?? silentLogger,
    objects,
    codec: options.codec ?? createCodec(),
    random: options.random ?? Math.random,
    newUid: options.newUid ?? randomUUID,
    lines: new WatchLines(),
    meters,
    streams: new Set(),
  };
  const pods = registry.byKind('', 'Pod');
  const nodes = registry.byKind('', 'Node');
  if (pods !== undefined) registry.add(podMetrics(context.clock, pods.prefix));
  if (pods !== undefined && nodes !== undefined) {
    registry.add(nodeMetrics(context, { nodes: nodes.prefix, pods: pods.prefix }));
  }
  admission.push(...(access.plugins ?? []), ...(options.admission?.(context) ?? []));
  const aggregator = options.proxyIdentity && new Aggregator(context, options.proxyIdentity);
  const storageCheck = { name: 'storage', readinessOnly: true, check: () => store.checkWritable() };
  const routes: readonly PlainRoute[] = [
    versionRoute,
    healthRoute([storageCheck, ...(options.health ?? [])], meters.health),
    documentRoute((path) => access.plain?.(path)),
    ...(options.routes?.(context) ?? []),
    discoveryRoute(new DiscoveryDocuments(registry, metricGroups, aggregator)),
    openApiRoute(new OpenApi(registry, undefined, () => aggregator?.openApiPaths() ?? [])),
    notFoundRoute,
  ];
  const flows = options.flowControl && new FlowControl(context, options.flowControl);
  const serve = requestServer(context, { access, aggregator, flows, routes });
  return {
    context,
    aggregator,
    handle: serve,
    close() {
      for (const end of context.streams) end();
      flows?.stop();
      aggregator?.stop();
      access.stop?.();
    },
  };
}

const openAccess: AccessControl = {
  identify: (request) => request.peer.user ?? anonymous,
  authorizer: allowAll,
};

interface Serving {
  readonly access: AccessControl;
  readonly aggregator: Aggregator | undefined;
  readonly flows: FlowControl | undefined;
  readonly routes: readonly PlainRoute[];
}

/** What is known of a request while it is answered, whatever answer it gets. */
interface Passage {
  readonly warnings: string[];
  readonly timing: RequestTiming;
  flow?: Flow | undefined;
}

function requestServer(context: ServerContext, { access, aggregator, flows, routes }: Serving): ApiHandler {
  const { requests } = context.meters;
  async function answer(request: ApiRequest, passage: Passage): Promise<ApiResponse> {
    const { timing, warnings } = passage;
    const identified = access.identify(request);
    // Waiting for what is there already would cost every request a turn.
    const user = identified instanceof Promise ? await identified : identified;
    const { path, search, info } = targetOf(request.method, request.url);
    // Callers in this process are parts of the server, which may not wait for its clients.
    const flow = request.peer.user === undefined ? flows?.classify({ user, method: request.method, info }) : undefined;
    passage.flow = flow;
    const inTurn = (work: () => Promise<ApiResponse>): Promise<ApiResponse> =>
      flow === undefined || flow.level.isExempt || flows === undefined
        ? work()
        : flows.run(flow, costOf(context, info, search), request, work);
    if (info.kind === 'plain') {
      await authorizePath(context.authorizer, user, request.method, path);
      timing.plain = plainName(path);
      const other = aggregator?.serverOfPath(path);
      if (aggregator !== undefined && other !== undefined) return aggregator.proxy(other, request, user);
      return inTurn(() => answerPlain(routes, request, path, user));
    }
    const authorizing = authorizeResource(context.authorizer, user, info, { method: request.method, search });
    if (authorizing !== undefined) await authorizing;
    const other = aggregator?.serverOf(info.group, info.version);
    // It waits for its turn there, and shares out its own seats.
    if (aggregator !== undefined && other !== undefined) return aggregator.proxy(other, request, user);
    const found = context.registry.find(info.group, info.version, info.plural);
    if (found === undefined) {
      const measured = answerMetrics(context, request, info);
      if (measured === undefined) throw noSuchResource();
      return measured;
    }
    checkRoute(found.resource, info);
    timing.routed(found, info, search);
    checkAcceptable(request.headers['accept'], !found.resource.custom);
    if (found.version.deprecationWarning !== undefined) warnings.push(found.version.deprecationWarning);
    const options = parseOptions(search, optionsKindOf(request.method));
    timing.dryRun = options.dryRun;
    timing.isApply = info.verb === 'patch' && request.headers['content-type'] === APPLY_TYPE;
    const call = {
      context,
      resource: found.resource,
      version: found.version,
      info,
      options,
      request,
      user,
      warnings,
      timing,
    };
    // A seat is taken when the body is there: whoever sends slowly keeps nobody waiting.
    const receiving = request.receive?.(user.username);
    if (receiving !== undefined) await receiving;
    return inTurn(() => dispatch(call));
  }

  return async (request) => {
    const passage: Passage = { warnings: [], timing: requests.begin(request.method) };
    let response: ApiResponse;
    enterRequest(request);
    try {
      response = await answer(request, passage);
    } catch (error) {
      response = answerFailure(error, request, context.log, passage.warnings);
    } finally {
      leaveRequest(request);
    }
    const headers: Record<string, string | readonly string[]> = {
      'audit-id': request.headers['audit-id'] ?? context.newUid(),
      'cache-control': 'no-cache, private',
    };
    if (passage.flow !== undefined) addFlowHeaders(headers, passage.flow);
    for (const name in response.headers) headers[name] = response.headers[name] as string | readonly string[];
    const { document, status, upgrade } = response;
    const body = requests.end(passage.timing, response);
    if (upgrade !== undefined) return { status, headers, body, upgrade };
    return document === undefined ? { status, headers, body } : { status, headers, body, document };
  };
}

const APPLY_TYPE = 'application/apply-patch+yaml';

async function answerPlain(
  routes: readonly PlainRoute[],
  request: ApiRequest,
  path: string,
  user: UserInfo,
): Promise<ApiResponse> {
  for (const route of routes) {
    const response = route.handle(request, path, user);
    if (response !== undefined) return response;
  }
  throw noSuchResource();
}

/** By UID and not by name, so that nobody learns from them how important an administrator finds whom. */
function addFlowHeaders(headers: Record<string, string | readonly string[]>, { level, schema }: Flow): void {
  headers['x-kubernetes-pf-flowschema-uid'] = schema.metadata.uid ?? '';
  headers['x-kubernetes-pf-prioritylevel-uid'] = level.uid;
}

/** Undefined where nothing is written: the options of writes mean nothing there. */
function optionsKindOf(method: string): OptionsKind | undefined {
  return method === 'POST'
    ? 'CreateOptions'
    : method === 'PUT'
      ? 'UpdateOptions'
      : method === 'PATCH'
        ? 'PatchOptions'
        : method === 'DELETE'
          ? 'DeleteOptions'
          : undefined;
}
