import { expect, test } from 'vitest';
import { targetOf } from './info.ts';

/** `verb group/version plural namespace/name/subresource/rest`, with `-` for what is not there. */
function told(request: string): string {
  const [method = '', url = ''] = request.split(' ');
  const { info } = targetOf(method, url);
  if (info.kind === 'plain') return `plain ${info.path}`;
  const where = [info.namespace ?? '-', info.name ?? '-', info.subresource ?? '-', ...info.rest].join('/');
  return `${info.verb ?? '-'} ${info.group}/${info.version} ${info.plural} ${where}`;
}

test.each([
  ['GET /', 'plain /'],
  ['GET /api', 'plain /api'],
  ['GET /api/v1', 'plain /api/v1'],
  ['GET /api/v1/', 'plain /api/v1/'],
  ['GET /apis/apps/v1', 'plain /apis/apps/v1'],
  ['GET /healthz/x/y/z', 'plain /healthz/x/y/z'],
  ['GET /api/v1/pods', 'list /v1 pods -/-/-'],
  ['HEAD /api/v1/pods/', '- /v1 pods -/-/-'],
  ['GET /api/v1/pods//', 'list /v1 pods -/-/-'],
  ['POST /api/v1/namespaces/a/pods', 'create /v1 pods a/-/-'],
  ['GET /api/v1/namespaces/a/pods/b', 'get /v1 pods a/b/-'],
  ['PUT /api/v1/namespaces/a/pods/b/status', 'update /v1 pods a/b/status'],
  ['GET /api/v1/namespaces/a/pods/b/proxy/c/d', 'get /v1 pods a/b/proxy/c/d'],
  ['PATCH /apis/apps/v1/namespaces/a/deployments/b/scale', 'patch apps/v1 deployments a/b/scale'],
  ['DELETE /apis/apps/v1/namespaces/a/deployments', 'deletecollection apps/v1 deployments a/-/-'],
  ['PUT /apis/apps/v1/deployments', '- apps/v1 deployments -/-/-'],
  ['GET /api/v1/namespaces', 'list /v1 namespaces -/-/-'],
  ['GET /api/v1/namespaces/a', 'get /v1 namespaces -/a/-'],
  ['PUT /api/v1/namespaces/a/finalize', 'update /v1 namespaces -/a/finalize'],
  ['PUT /api/v1/namespaces/a/status', 'update /v1 namespaces -/a/status'],
  ['GET /api/v1/namespaces/a/status/b', 'get /v1 namespaces -/a/status/b'],
  ['GET /api/v1/watch/namespaces/a/pods', 'watch /v1 pods a/-/-'],
  ['POST /api/v1/watch/pods', '- /v1 pods -/-/-'],
  ['GET /api/v1/watch', 'list /v1 watch -/-/-'],
  ['GET /api/v1/pods?watch=1', 'watch /v1 pods -/-/-'],
  ['GET /api/v1/pods?watch=false', 'list /v1 pods -/-/-'],
  ['GET /api/v1/namespaces/a/pods/b?watch=1', 'get /v1 pods a/b/-'],
  ['GET /api/v1/nodes/a%2Fb', 'get /v1 nodes -/a/b'],
  ['GET /api/v1/namespaces/a%2fpods', 'list /v1 pods a/-/-'],
  ['GET /api/v1/nodes/%C3%B1', 'get /v1 nodes -/ñ/-'],
  ['GET /api/v1/nodes/ñ%20', 'get /v1 nodes -/ñ /-'],
  ['GET /api/v1/nodes/a%ff', 'get /v1 nodes -/a\uFFFD/-'],
  ['GET /%6detrics', 'plain /metrics'],
])('%s', (request, want) => expect(told(request)).toBe(want));

test('a path with a broken escape is refused', () => {
  expect(() => told('GET /api/v1/nodes/%zz')).toThrow('invalid URL escape "%zz" in the path');
  expect(() => told('GET /api/v1/nodes/%')).toThrow('invalid URL escape "%" in the path');
});

test('a POST is read anew when its path, its query or its method is another', () => {
  const pods = targetOf('POST', '/api/v1/namespaces/a/pods');
  expect(targetOf('POST', '/api/v1/namespaces/a/pods')).toEqual(pods);
  expect(targetOf('POST', '/api/v1/namespaces/a/pods?dryRun=All')).toEqual({ ...pods, search: 'dryRun=All' });
  expect(told('POST /api/v1/namespaces/b/pods')).toBe('create /v1 pods b/-/-');
  expect(told('GET /api/v1/namespaces/b/pods')).toBe('list /v1 pods b/-/-');
  expect(told('DELETE /api/v1/namespaces/b/pods')).toBe('deletecollection /v1 pods b/-/-');
  expect(told('POST /api/v1/namespaces/b/pods')).toBe('create /v1 pods b/-/-');
});
