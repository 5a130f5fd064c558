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
} from '../machinery/runtime/index.ts';
import type { Store } from '../storage/index.ts';
import { allowAll, type Authorizer } from './access.ts';
import type { AdmissionPlugin } from './admission.ts';
import { authorizePath, authorizeResource } from './authorize.ts';
import { createCodec } from './codec/index.ts';
import type { Codec } from './codec-seam.ts';
import { Discovery } from './discovery/discovery.ts';
import { OpenApi, openApiRoute } from './openapi/index.ts';
import type { ApiHandler, ApiRequest, ApiResponse } from './exchange.ts';
import { answerFailure } from './failed-exchange.ts';
import type { Kernel } from './kernel.ts';
import { nodeMetricsRow } from './kinds/metrics/node-metrics.ts';
import { podMetricsRow } from './kinds/metrics/pod-metrics.ts';
import { answerMetrics, metricGroups } from './kinds/metrics/set-metrics.ts';
import {
  discoveryRoute,
  type HealthCheck,
  healthRoute,
  notFoundRoute,
  type PlainRoute,
  versionRoute,
} from './plain-routes.ts';
import { Registry } from './registry/registry.ts';
import type { ResourceRow } from './registry/row.ts';
import { targetOf } from './request/info.ts';
import { checkAcceptable } from './request/negotiate.ts';
import { type OptionsKind, parseOptions } from './request/options.ts';
import { checkRoute } from './request/route.ts';
import { noSuchResource } from './status.ts';
import type { StoredReads } from './stored/kind-view.ts';
import { ObjectCache } from './stored/object-cache.ts';
import { observeWrites } from './stored/pending-writes.ts';
import { WatchLines } from './stored/watch-lines.ts';
import { anonymous, type UserInfo } from './user.ts';
import { dispatch } from './verbs/dispatch.ts';

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
  readonly rows: Iterable<ResourceRow>;
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly random?: () => number;
  readonly newUid?: () => string;
  readonly codec?: Codec;
  /** Built around the registry and the store. */
  readonly access?: (reads: StoredReads) => AccessControl;
  /** Built around the kernel, in the order they run. */
  readonly admission?: (kernel: Kernel) => readonly AdmissionPlugin[];
  readonly routes?: (kernel: Kernel) => readonly PlainRoute[];
  readonly health?: readonly HealthCheck[];
  /** Decoded objects kept in memory. */
  readonly cachedObjects?: number;
}

export interface ApiServer {
  readonly handle: ApiHandler;
  readonly kernel: Kernel;
  /** Ends every open watch. The store stays open: it is the caller's. */
  close(): void;
}

export function createApiServer(options: ApiServerOptions): ApiServer {
  const { store, writes } = observeWrites(options.store);
  const registry = new Registry();
  for (const row of options.rows) registry.add(row);
  const objects = new ObjectCache(options.cachedObjects);
  const access = options.access?.({ registry, store, objects }) ?? openAccess;
  const admission: AdmissionPlugin[] = [];
  const kernel: Kernel = {
    store,
    writes,
    registry,
    admission,
    authorizer: access.authorizer,
    clock: options.clock ?? systemClock,
    log: options.log ?? silentLogger,
    objects,
    codec: options.codec ?? createCodec(),
    random: options.random ?? Math.random,
    newUid: options.newUid ?? randomUUID,
    lines: new WatchLines(),
    streams: new Set(),
  };
  const pods = registry.byKind('', 'Pod');
  const nodes = registry.byKind('', 'Node');
  if (pods !== undefined) registry.add(podMetricsRow(kernel.clock, pods.prefix));
  if (pods !== undefined && nodes !== undefined) {
    registry.add(nodeMetricsRow(kernel, { nodes: nodes.prefix, pods: pods.prefix }));
  }
  admission.push(...(access.plugins ?? []), ...(options.admission?.(kernel) ?? []));
  const storageCheck = { name: 'storage', readinessOnly: true, check: () => store.checkWritable() };
  const routes: readonly PlainRoute[] = [
    versionRoute,
    healthRoute([storageCheck, ...(options.health ?? [])]),
    { handle: (_request, path) => access.plain?.(path) },
    ...(options.routes?.(kernel) ?? []),
    discoveryRoute(new Discovery(registry, metricGroups)),
    openApiRoute(new OpenApi(registry)),
    notFoundRoute,
  ];
  const serve = requestServer(kernel, access, routes);
  return {
    kernel,
    handle: serve,
    close() {
      for (const end of kernel.streams) end();
      access.stop?.();
    },
  };
}

const openAccess: AccessControl = {
  identify: (request) => request.peer.user ?? anonymous,
  authorizer: allowAll,
};

function requestServer(kernel: Kernel, access: AccessControl, routes: readonly PlainRoute[]): ApiHandler {
  async function answer(request: ApiRequest, warnings: string[]): Promise<ApiResponse> {
    const identified = access.identify(request);
    // Waiting for what is there already would cost every request a turn.
    const user = identified instanceof Promise ? await identified : identified;
    const { path, search, info } = targetOf(request.method, request.url);
    if (info.kind === 'plain') {
      await authorizePath(kernel.authorizer, user, request.method, path);
      for (const route of routes) {
        const response = route.handle(request, path, user);
        if (response !== undefined) return response;
      }
      throw noSuchResource();
    }
    const authorizing = authorizeResource(kernel.authorizer, user, info, { method: request.method, search });
    if (authorizing !== undefined) await authorizing;
    const found = kernel.registry.find(info.group, info.version, info.plural);
    if (found === undefined) {
      const measured = answerMetrics(kernel, request, info);
      if (measured === undefined) throw noSuchResource();
      return measured;
    }
    checkRoute(found.row, info);
    checkAcceptable(request.headers['accept'], !found.row.custom);
    if (found.version.deprecationWarning !== undefined) warnings.push(found.version.deprecationWarning);
    const call = {
      kernel,
      row: found.row,
      version: found.version,
      info,
      options: parseOptions(search, optionsKindOf(request.method)),
      request,
      user,
      warnings,
    };
    const receiving = request.receive?.(user.username);
    if (receiving !== undefined) await receiving;
    return dispatch(call);
  }

  return async (request) => {
    const warnings: string[] = [];
    let response: ApiResponse;
    enterRequest(request);
    try {
      response = await answer(request, warnings);
    } catch (error) {
      response = answerFailure(error, request, kernel.log, warnings);
    } finally {
      leaveRequest(request);
    }
    const headers: Record<string, string | readonly string[]> = {
      'audit-id': request.headers['audit-id'] ?? kernel.newUid(),
      'cache-control': 'no-cache, private',
    };
    for (const name in response.headers) headers[name] = response.headers[name] as string | readonly string[];
    const { body, document, status } = response;
    return document === undefined ? { status, headers, body } : { status, headers, body, document };
  };
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
