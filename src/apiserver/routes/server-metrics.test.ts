import { expect, it } from 'vitest';
import { builtinType } from '../../api/registry.ts';
import { Metrics } from '../../machinery/runtime/index.ts';
import { configMap, startControlPlane } from '../../testkit/index.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const ofConfigMaps = (verb: string, scope: string, dryRun = '') =>
  `group="",version="v1",resource="configmaps",subresource="",component="apiserver",verb="${verb}",scope="${scope}",dry_run="${dryRun}"`;

async function measuredPlane() {
  const metrics = new Metrics();
  const plane = await startControlPlane({ metrics });
  const { client } = plane;
  const page = async (path: string): Promise<string> =>
    Buffer.from((await plane.transport({ method: 'GET', path })).body as Uint8Array).toString();
  return { plane, client, page };
}

it('requests are counted by what they ask for and the code of the answer, those of dry runs by themselves', async () => {
  const { client, page, plane } = await measuredPlane();
  const kind = builtinType('ConfigMap', '', 'v1');
  await client.create(kind, configMap({ name: 'a' }));
  await expect(client.create(kind, configMap({ name: 'a' }))).rejects.toThrow(/already exists/);
  await client.request('POST', `${CONFIG_MAPS}?dryRun=All`, { metadata: { name: 'b' } });
  await client.request('GET', `${CONFIG_MAPS}?fieldSelector=metadata.name%3Da`);
  await client.request('GET', CONFIG_MAPS);
  await client.request('GET', '/api/v1/configmaps');
  const text = await page('/metrics');
  expect(text).toContain(`apiserver_request_total{${ofConfigMaps('POST', 'resource')},code="201"} 1`);
  expect(text).toContain(`apiserver_request_total{${ofConfigMaps('POST', 'resource')},code="409"} 1`);
  expect(text).toContain(`apiserver_request_total{${ofConfigMaps('POST', 'resource', 'All')},code="201"} 1`);
  for (const scope of ['resource', 'namespace', 'cluster']) {
    expect(text).toContain(`apiserver_request_total{${ofConfigMaps('LIST', scope)},code="200"} 1`);
  }
  expect(text).toContain(`apiserver_request_duration_seconds_count{${ofConfigMaps('POST', 'resource')}} 2`);
  expect(text).toMatch(
    /apiserver_request_sli_duration_seconds_bucket\{[^}]*configmaps[^}]*verb="POST"[^}]*le="0.05"\} 2/,
  );
  expect(text).toMatch(/apiserver_response_sizes_count\{[^}]*configmaps[^}]*verb="LIST",scope="cluster"\} 1/);
  expect(text).toContain('etcd_requests_total{operation="create",group="",resource="configmaps"} 1');
  expect(text).toContain(
    'apiserver_admission_step_admission_duration_seconds_count{type="admit",operation="CREATE",rejected="false"}',
  );
  expect(text).toContain('apiserver_resource_objects{group="",resource="configmaps"} 1');
  expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 1');
  await plane.stop();
});

it('a watch lasts until it is over, and is counted then; its events are counted as they go', async () => {
  const { client, page, plane } = await measuredPlane();
  const away = new AbortController();
  const { body } = await plane.transport({
    method: 'GET',
    path: `${CONFIG_MAPS}?watch=true`,
    signal: away.signal,
  });
  await client.create(builtinType('ConfigMap', '', 'v1'), configMap({ name: 'a' }));
  const lines = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  await lines.next();
  const labels =
    'group="",version="v1",resource="configmaps",subresource="",component="apiserver",verb="WATCH",scope="namespace"';
  const during = await page('/metrics');
  expect(during).toContain(`apiserver_longrunning_requests{${labels}} 1`);
  expect(during).toContain('apiserver_registered_watchers{group="",version="v1",kind="ConfigMap"} 1');
  expect(during).toContain('apiserver_watch_events_total{group="",version="v1",resource="configmaps"} 1');
  expect(during).not.toContain(`apiserver_request_total{${labels}`);
  away.abort();
  await lines.return?.();
  const after = await page('/metrics');
  expect(after).toContain(`apiserver_longrunning_requests{${labels}} 0`);
  expect(after).toContain(`apiserver_request_total{${labels},dry_run="",code="200"} 1`);
  await plane.stop();
});

it('what is no route is not counted, so that nobody can make series without end', async () => {
  const { client, page, plane } = await measuredPlane();
  await expect(client.request('GET', '/api/v1/namespaces/default/nosuchkinds')).rejects.toThrow();
  await expect(client.request('GET', `${CONFIG_MAPS}/a/nosuchpart`)).rejects.toThrow();
  expect(await page('/metrics')).not.toContain('nosuch');
  await plane.stop();
});

it('/metrics/slis says of each check of health what it said last, and how often it was asked', async () => {
  const { page, plane } = await measuredPlane();
  expect(await page('/metrics/slis')).not.toContain('name="ping"');
  await page('/readyz');
  await page('/readyz');
  await page('/livez');
  const text = await page('/metrics/slis');
  expect(text).toContain('kubernetes_healthcheck{name="storage",type="readyz"} 1');
  expect(text).toContain('kubernetes_healthchecks_total{name="storage",type="readyz",status="success"} 2');
  expect(text).toContain('kubernetes_healthchecks_total{name="ping",type="livez",status="success"} 1');
  expect(await page('/metrics')).not.toContain('kubernetes_healthcheck');
  await plane.stop();
});
