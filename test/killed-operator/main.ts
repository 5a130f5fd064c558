/**
 * Twenty nodes under one Maintenance on the real binaries, and the only replica of the operator killed (-9) every five
 * seconds: `npm run test:killed-operator -- [--nodes 20] [--every 5] [--minutes 9]`. Counts outages from the watch of pods
 * alone. Exits with 1 where it does not end, a group went down more often than planned, or two were down at once.
 */
import { parseArgs } from 'node:util';
import type { Node, Pod } from '../../src/api/generated/core-v1.ts';
import { type Maintenance, maintenanceType } from '../../src/api/quorate/maintenance.ts';
import { nodeType, podType, secretType } from '../../src/api/resource-types.ts';
import { startNodes } from '../../src/app/index.ts';
import { createClient, createHttpTransport, loadKubeconfig, silentLogger } from '../../src/machinery/runtime/index.ts';
import { budget } from '../cluster/gangs.ts';
import { balance, runOperator } from '../cluster/operator-process.ts';
import * as stage from '../cluster/stage.ts';
import * as groups from '../scenarios/stories/groups.ts';
import { Outages, type Wrong, wrongNodes } from './outages.ts';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '20' },
    every: { type: 'string', default: '5' },
    minutes: { type: 'string', default: '9' },
  },
});
const NODES = Number(values.nodes);
const SPARE = 5;
const GANG = 2;
const EVERY_MS = Number(values.every) * 1000;
const names = Array.from({ length: NODES }, (_, at) => `node-${at}`);
const teams = names.map((_, at) => `team-${at}`);
const begunAt = Date.now();
const say = (text: string): boolean =>
  process.stdout.write(`${((Date.now() - begunAt) / 1000).toFixed(0).padStart(5)} s  ${text}\n`);

/** Each gang prefers a node of its own. */
const deployment = (team: string, at: number): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: team, namespace: 'default' },
  spec: {
    replicas: GANG,
    selector: { matchLabels: { team } },
    template: {
      metadata: { labels: { app: 'team', team } },
      spec: {
        schedulingGroup: { podGroupName: team },
        terminationGracePeriodSeconds: 1,
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 100,
                preference: {
                  matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [`node-${at}`] }],
                },
              },
            ],
          },
        },
        containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }],
      },
    },
  },
});

const plane = await stage.startPlane();
const transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
const client = createClient({ transport: transport.send, userAgent: 'killed-operator' });
const end = new AbortController();
let failed = true;
try {
  await stage.prepareCluster(plane);
  const nodes = await startNodes({
    kubeconfig: plane.kubeconfig,
    log: silentLogger,
    nodes: { count: NODES + SPARE },
  });
  const operator = runOperator(plane.kubeconfig, 'only', ['--mode', 'adopt']);
  await stage.until('the operator to be ready', () => operator.port() !== undefined, 120_000);
  const balancer = await balance([operator]);
  const secret = await client.get(secretType, { namespace: stage.NAMESPACE, name: 'quorate-webhook-tls' });
  const authority = Buffer.from(secret.data?.['ca.crt'] ?? '', 'base64').toString('utf8');
  await stage.writeWebhooks(plane, { authority, webhookPort: balancer.port }, 'native', 'adopt');
  await stage.apply(
    plane,
    groups.workload(stage.groupVersion, 'team', GANG),
    ...teams.map((team) => groups.podGroup(stage.groupVersion, team, 'team', GANG)),
    ...teams.map(deployment),
    budget('team', { maxUnavailable: 1 }),
  );
  await stage.kubectl(plane, 'wait', '--for=condition=Available', 'deployment', '--all', '--timeout=240s');
  const outages = new Outages(GANG);
  const followed = outages.follow(client, end.signal);
  await stage.until('all gangs to be whole', () => outages.whole === teams.length, 60_000);
  outages.begin();
  const maintenance: Maintenance = {
    metadata: { name: 'm' },
    spec: { nodes: { names }, uncordon: 'WhenFinished' },
  };
  await client.create(maintenanceType, maintenance);
  say(`a Maintenance over ${NODES} nodes with ${NODES} gangs; the operator dies every ${values.every} s`);
  const result = await untilDone(operator);
  end.abort();
  await followed;
  failed = report(result, outages);
  await operator.stop();
  await balancer.close();
  nodes.stop();
} finally {
  end.abort();
  transport.close();
  await plane.stop();
}
process.exitCode = failed ? 1 : 0;

interface Result {
  readonly status: Maintenance['status'];
  readonly planned: number;
  readonly kills: number;
  readonly wrong: Wrong;
}

/** Kills until it is over, and looks meanwhile whether nodes are told of as what they are. */
async function untilDone(operator: { crash(): void }): Promise<Result> {
  const wrong: Wrong = { since: new Map(), longestMs: 0 };
  let [kills, planned, said] = [0, 0, ''];
  let killAt = Date.now() + EVERY_MS;
  const giveUpAt = Date.now() + Number(values.minutes) * 60_000;
  for (;;) {
    const { status } = await client.get(maintenanceType, { name: 'm' });
    if (planned === 0) planned = status?.groups?.planned ?? 0;
    const text = `${status?.phase ?? ''} ${status?.step?.number ?? 0}/${status?.step?.of ?? 0}`;
    if (text !== said) say(`${text}, ${kills} kills`);
    said = text;
    const isOver = ['Done', 'Failed', 'Cancelled'].includes(status?.phase ?? '');
    if (isOver || Date.now() > giveUpAt) return { status, planned, kills, wrong };
    const [nodes, pods] = await Promise.all([client.list(nodeType, {}), client.list(podType, {})]);
    wrongNodes(wrong, nodes.items as Node[], pods.items as Pod[], Date.now());
    if (Date.now() >= killAt) {
      operator.crash();
      kills += 1;
      killAt = Date.now() + EVERY_MS;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function report({ kills, planned, status, wrong }: Result, outages: Outages): boolean {
  const { downTotal, hit = [] } = status?.groups ?? {};
  const total = [...outages.counts.values()].reduce((sum, count) => sum + count, 0);
  say(`${status?.phase ?? ''} after ${kills} kills; nodes drained ${status?.nodesDrained ?? 0} of ${NODES}`);
  say(
    `outages: ${planned} planned, ${total} seen in pods, ${downTotal ?? 0} told; at most ${outages.mostDown} at once`,
  );
  say(`a node was told of as what it was not for at most ${(wrong.longestMs / 1000).toFixed(1)} s, deaths included`);
  const complaints = [
    ...(status?.phase === 'Done' && status.nodesDrained === NODES ? [] : ['it did not end as it should']),
    ...(total <= planned ? [] : ['more outages than planned']),
    ...(total === downTotal ? [] : ['the outages told are not those seen']),
    ...(outages.mostDown <= 1 ? [] : ['more than one gang was down at once']),
    ...[...outages.counts].filter(([, count]) => count > 1).map(([gang]) => `${gang} went down more than once`),
    ...hit.filter(({ count }) => count > 1).map(({ group }) => `${group} is told to have gone down more than once`),
  ];
  for (const text of complaints) say(`WRONG: ${text}`);
  return complaints.length > 0;
}
