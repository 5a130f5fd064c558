/** The short form of `npm run test:drains`: in adopt mode a spelling that Kubernetes counts in pods costs no more. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import {
  createClient,
  createHttpTransport,
  type HttpTransport,
  loadKubeconfig,
  silentLogger,
} from '../../src/machinery/runtime/index.ts';
import { type DrainCase, drainFourNodes, NODES } from '../drains/drains.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
let operator: Operator;
let transport: HttpTransport;

beforeAll(async () => {
  plane = await stage.startPlane();
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: NODES } });
  transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  await stage.prepareCluster(plane);
  operator = await stage.startReplica(plane, 'only', 'adopt');
  await stage.registerWebhooks(plane, operator, stage.groupKinds, 'adopt');
});
afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  transport?.close();
  await plane?.stop();
});

const drain = (one: DrainCase) =>
  drainFourNodes(plane, createClient({ transport: transport.send, userAgent: 'test' }), one);

test('AD-01: kubectl drain of four nodes under maxUnavailable: 1 costs each of three gangs one outage', async () => {
  const cost = await drain({ name: 'max', size: 4, spec: { maxUnavailable: 1 } });
  expect(cost).toEqual({ outages: 3, mostDown: 1, drained: 4 });
});

test('AD-02: with a member of one of three gangs of eight not Ready, four drains end and cost each other gang one', async () => {
  const cost = await drain({ name: 'unready', size: 8, spec: { maxUnavailable: 1 }, unready: true });
  expect(cost).toEqual({ outages: 2, mostDown: 1, drained: 4 });
});
