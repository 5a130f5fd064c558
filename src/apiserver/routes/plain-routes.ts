/** Paths that are not resources: discovery, version, health, metrics and what other parts add. */
import type { HealthMeter } from '../measure/health-meter.ts';
import type { DiscoveryDocuments } from '../discovery/discovery.ts';
import type { ApiRequest, ApiResponse } from '../exchange/exchange.ts';
import { checkTakes, negotiate, parseAccept } from '../request/negotiate.ts';
import { jsonResponse } from '../response/respond.ts';
import { methodNotAllowed, noSuchResource } from '../exchange/status.ts';
import type { UserInfo } from '../exchange/user.ts';

export interface PlainRoute {
  /** Undefined: not mine. */
  handle(request: ApiRequest, path: string, user: UserInfo): ApiResponse | Promise<ApiResponse> | undefined;
}

export function textResponse(status: number, text: string): ApiResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: Buffer.from(text),
  };
}

/** Documents that are only read, each in its own form. */
export function documentRoute(find: (path: string) => ApiResponse | undefined): PlainRoute {
  return {
    handle({ headers, method }, path) {
      const document = find(path);
      if (document === undefined) return undefined;
      if (method !== 'GET') throw methodNotAllowed();
      checkTakes(headers['accept'], String(document.headers['content-type']));
      return document;
    },
  };
}

export function discoveryRoute(discovery: DiscoveryDocuments): PlainRoute {
  return {
    handle(request, path) {
      if (path !== '/api' && path !== '/apis' && !path.startsWith('/api/') && !path.startsWith('/apis/'))
        return undefined;
      const clean = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
      const form = clean === '/api' || clean === '/apis' ? aggregatedForm(request.headers['accept']) : 'legacy';
      const document = discovery.document(clean, form);
      if (document === undefined) throw noSuchResource();
      // The list of groups, and that of a group's versions, go by the path alone.
      if (request.method !== 'GET' && !/^\/apis(\/[^/]+)?$/.test(clean)) throw methodNotAllowed();
      if (form === 'legacy') negotiate(request.headers['accept'], { allowed: new Set(), protobuf: true });
      if (form === 'legacy') {
        return { status: 200, headers: { 'content-type': 'application/json' }, body: document.body };
      }
      const headers = { etag: document.etag, vary: 'Accept', 'cache-control': 'public' };
      if (request.headers['if-none-match'] === document.etag) {
        return { status: 304, headers, body: Buffer.alloc(0) };
      }
      const type = `application/json;g=apidiscovery.k8s.io;v=${form};as=APIGroupDiscoveryList`;
      return { status: 200, headers: { ...headers, 'content-type': type }, body: document.body };
    },
  };
}

function aggregatedForm(accept: string | undefined): 'legacy' | 'v2' | 'v2beta1' {
  for (const { type, parameters } of parseAccept(accept ?? '')) {
    if (type !== 'application/json') continue;
    if (parameters.get('g') !== 'apidiscovery.k8s.io' || parameters.get('as') !== 'APIGroupDiscoveryList') {
      if (parameters.has('g')) continue;
      return 'legacy';
    }
    const version = parameters.get('v');
    if (version === 'v2' || version === 'v2beta1') return version;
  }
  return 'legacy';
}

export const GIT_VERSION = 'v1.36.4+quorate';

export const KUBERNETES = {
  major: '1',
  minor: '36',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
} as const;

export const versionRoute: PlainRoute = {
  handle({ headers, method }, path) {
    if (path !== '/version' && path !== '/version/') return undefined;
    if (method !== 'GET') throw methodNotAllowed();
    checkTakes(headers['accept'], 'application/json');
    const { major, minor, platform } = KUBERNETES;
    return jsonResponse(200, {
      major,
      minor,
      emulationMajor: '1',
      emulationMinor: '36',
      minCompatibilityMajor: '1',
      minCompatibilityMinor: '35',
      gitVersion: GIT_VERSION,
      gitCommit: '0000000000000000000000000000000000000000',
      gitTreeState: 'clean',
      buildDate: '2026-01-01T00:00:00Z',
      goVersion: 'go1.26.0',
      compiler: 'gc',
      platform,
    });
  },
};

export interface HealthCheck {
  readonly name: string;
  /** Of no interest to whoever restarts what does not live: a restart would not help. */
  readonly readinessOnly?: boolean;
  /** The reason it fails; undefined while all is well. */
  check(): string | undefined | Promise<string | undefined>;
}

const HEALTH_PATHS = ['/healthz', '/livez', '/readyz'];

/** `meter` is told what each check said. */
export function healthRoute(checks: readonly HealthCheck[], meter: HealthMeter): PlainRoute {
  return {
    handle(request, path) {
      const root = HEALTH_PATHS.find((candidate) => path === candidate || path.startsWith(`${candidate}/`));
      if (root === undefined) return undefined;
      const name = path.slice(root.length + 1);
      const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
      const excluded = query.getAll('exclude');
      const all: HealthCheck[] = [{ name: 'ping', check: () => undefined }, ...checks];
      const chosen = all
        .filter(({ readinessOnly }) => readinessOnly !== true || root !== '/livez')
        .filter((check) => (name === '' ? !excluded.includes(check.name) : check.name === name));
      if (chosen.length === 0) return textResponse(404, '404 page not found\n');
      return report(root.slice(1), { checks: chosen, meter, verbose: query.has('verbose') });
    },
  };
}

async function report(
  root: string,
  { checks, meter, verbose }: { checks: readonly HealthCheck[]; meter: HealthMeter; verbose: boolean },
): Promise<ApiResponse> {
  const results = await Promise.all(checks.map(async (check) => ({ name: check.name, problem: await check.check() })));
  for (const { name, problem } of results) meter.checked(name, root, problem === undefined);
  const healthy = results.every(({ problem }) => problem === undefined);
  if (healthy && !verbose) return textResponse(200, 'ok');
  const lines = results.map(({ name, problem }) =>
    problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
  );
  const verdict = `${root} check ${healthy ? 'passed' : 'failed'}`;
  return textResponse(healthy ? 200 : 500, `${lines.join('\n')}\n${verdict}\n`);
}

export const notFoundRoute: PlainRoute = {
  handle(_request, path) {
    if (path.startsWith('/api/') || path.startsWith('/apis/')) throw noSuchResource();
    if (path === '/')
      return jsonResponse(200, {
        paths: ['/api', '/apis', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz', '/version'],
      });
    return textResponse(404, '404 page not found\n');
  },
};
