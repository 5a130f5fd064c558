/** Patches whose result, or the way to it, is far larger than they are. */
import type { Attack } from '../harness/index.ts';
import * as bodies from './bodies.ts';
import { CONFIG_MAPS, configMap, times } from './bodies.ts';
import { ask, one, onMade, patch, post } from './request.ts';

export const jsonPatches: readonly Attack[] = [
  onMade(
    'JSON patch: 400 moves of a map of 20,000',
    () => post(CONFIG_MAPS, JSON.stringify(configMap('moves', 20_000))),
    () => {
      const there = { op: 'move', from: '/data', path: '/binaryData' };
      const back = { op: 'move', from: '/binaryData', path: '/data' };
      return patch(
        `${CONFIG_MAPS}/moves`,
        JSON.stringify(times(400, (at) => (at % 2 ? back : there))),
        bodies.JSON_PATCH,
      );
    },
  ),
  onMade(
    'JSON patch: 10,000 insertions before a list of 500,000',
    () => post(CONFIG_MAPS, JSON.stringify(configMap('inserts'))),
    () => {
      const first = { op: 'add', path: '/data', value: times(500_000, () => 0) };
      const rest = times(9999, () => ({ op: 'add', path: '/data/0', value: 0 }));
      return patch(`${CONFIG_MAPS}/inserts`, JSON.stringify([first, ...rest]), bodies.JSON_PATCH);
    },
  ),
  onMade(
    'JSON patch: 5,000 tests of a map of 20,000 against a copy of itself',
    () => post(CONFIG_MAPS, JSON.stringify(configMap('tests', 20_000))),
    () => {
      const value = (configMap('tests', 20_000) as { data: object }).data;
      const tests = times(6, () => ({ op: 'test', path: '/data', value }));
      return patch(`${CONFIG_MAPS}/tests`, JSON.stringify(tests), bodies.JSON_PATCH);
    },
  ),
  onMade(
    'JSON patch: 10,000 copies of a map of 20,000',
    () => post(CONFIG_MAPS, JSON.stringify(configMap('copies', 20_000))),
    () => {
      const copies = times(10_000, () => ({ op: 'copy', from: '/data', path: '/binaryData' }));
      return patch(`${CONFIG_MAPS}/copies`, JSON.stringify(copies), bodies.JSON_PATCH);
    },
  ),
];

export const otherPatches: readonly Attack[] = [
  onMade(
    'strategic merge patch: 30,000 containers over 2,000',
    () => post('/apis/apps/v1/namespaces/default/deployments', JSON.stringify(deployment('strategic', 2000))),
    () =>
      patch(
        '/apis/apps/v1/namespaces/default/deployments/strategic',
        JSON.stringify({
          spec: { template: { spec: { containers: times(30_000, (at) => ({ name: `c${at}`, image: 'j' })) } } },
        }),
        bodies.STRATEGIC_PATCH,
      ),
  ),
  onMade(
    'strategic merge patch: an order of 60,000 names',
    () => post('/apis/apps/v1/namespaces/default/deployments', JSON.stringify(deployment('ordered', 1))),
    () =>
      patch(
        '/apis/apps/v1/namespaces/default/deployments/ordered',
        JSON.stringify({
          metadata: {
            finalizers: times(60_000, (at) => `e.x/${59_999 - at}`),
            '$setElementOrder/finalizers': times(60_000, (at) => `e.x/${at}`),
          },
        }),
        bodies.STRATEGIC_PATCH,
      ),
  ),
  one('apply: a config map of 40,000 entries', () =>
    patch(
      `${CONFIG_MAPS}/applied?fieldManager=a&force=true`,
      JSON.stringify(configMap('applied', 40_000)),
      bodies.APPLY_PATCH,
    ),
  ),
  one('apply: 40,000 entries again by another manager', () =>
    patch(`${CONFIG_MAPS}/applied?fieldManager=b`, JSON.stringify(configMap('applied', 40_000)), bodies.APPLY_PATCH),
  ),
  {
    name: '17.11 managed fields of 40 managers with 1,000 entries each',
    async run(server) {
      let last = '';
      for (const at of times(40, (index) => index)) {
        last = await ask(
          server,
          patch(
            `${CONFIG_MAPS}/shared?fieldManager=m${at}&force=true`,
            JSON.stringify(configMap('shared', 1000)),
            bodies.APPLY_PATCH,
          ),
        );
      }
      return last;
    },
  },
  onMade(
    'merge patch: 50,000 entries',
    () => post(CONFIG_MAPS, JSON.stringify(configMap('merged', 1))),
    () =>
      patch(
        `${CONFIG_MAPS}/merged`,
        JSON.stringify({ data: (configMap('x', 50_000) as { data: object }).data }),
        bodies.MERGE_PATCH,
      ),
  ),
];

function deployment(name: string, containers: number): object {
  return {
    metadata: { name },
    spec: {
      replicas: 0,
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: times(containers, (at) => ({ name: `c${at}`, image: 'i' })) },
      },
    },
  };
}
