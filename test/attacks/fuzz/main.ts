/**
 * The request fuzzer: `npm run test:fuzz -- --seed 1 --requests 2000000 [--real] [--lanes 48] [--minutes M]`.
 * Sends the same requests to the built server and, with `--real`, to a real kube-apiserver, and compares status codes.
 * With `--save FILE` every difference, known or not, is written there as a line of JSON.
 */
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startRealControlPlane } from '../../kubernetes/control-plane.ts';
import { type AttackedServer, startAttackedServer } from '../harness/server.ts';
import { sendBrokenHead } from './broken-heads.ts';
import { http1Lines, http2Lines, type Lines } from './client.ts';
import { Dice } from './dice.ts';
import { type Difference, Differences, readKnown } from './differences.ts';
import { type FuzzRequest, makeRequest, NAMES } from './requests.ts';
import { shared } from './resources.ts';
import { isSharedError } from './shared-errors.ts';
import { type Door, namespaceOf, stage, type Staged } from './stage.ts';

const { values: flags } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    requests: { type: 'string', default: '100000' },
    lanes: { type: 'string', default: '48' },
    real: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '600' },
    save: { type: 'string' },
  },
});
const seed = Number(flags.seed);
const requests = Number(flags.requests);
const lanes = Number(flags.lanes);
/** Each takes a connection of its own, whose handshake costs more than a request. */
const BROKEN_HEADS = 0.005;
/** Servers end the HTTP/1.1 connection of a request that they refuse before its body came: these, too, cost handshakes. */
const HTTP1 = 0.05;
/** Lanes that share an HTTP/2 connection; beside the real server none do, so that no lane meets the fault of another. */
const LANES_PER_CONNECTION = flags.real ? 1 : 8;
const PEAK_LIMIT_MB = 800;
const SHOWN_ERRORS = 40;
const HELD = /\/persistentvolume(claim)?s\b/;
const SERVICES = /\/services\b/;
/** Longer than any stream or wait that a request asks for. */
const SLOW_MS = 10_000;

interface Side {
  readonly door: Door;
  readonly staged: Staged;
  /** Shared by the lanes. */
  readonly http2: readonly Lines[];
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
print(`seed ${seed}, ${requests} requests in ${lanes} lanes${flags.real ? ', beside the real server' : ''}`);

const server = await startAttackedServer({ flags: ['--api-only'] });
const real = flags.real ? await startRealControlPlane({ components: [] }) : undefined;
const differences = new Differences(readKnown());
const counts = new Map<number, number>();
const serverErrors = new Map<string, { count: number; example: string }>();
const slow: string[] = [];
const unanswered: string[] = [];
let sent = 0;
let brokenHeads = 0;
// An interrupted run ends in order, too, and reports what it has.
let ending = false;
process.once('SIGINT', () => (ending = true));
setTimeout(() => (ending = true), Number(flags.minutes) * 60_000).unref();

try {
  const ours = await open(server.access);
  const theirs =
    real === undefined
      ? undefined
      : await open({ host: '127.0.0.1', port: Number(new URL(real.server).port), token: real.token });
  const resources =
    theirs === undefined ? ours.staged.resources : shared(ours.staged.resources, theirs.staged.resources);
  print(`${resources.length} resources`);
  const started = Date.now();
  const rate = (): string => `${Math.round((sent + brokenHeads) / ((Date.now() - started) / 1000))}/s`;
  const progress = setInterval(() => {
    print(`${sent} sent, ${rate()}, ${differences.total} differences, ${serverErrors.size} kinds of 500`);
  }, 15_000);
  await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane, ours, theirs, resources)));
  clearInterval(progress);
  for (const lines of [...ours.http2, ...(theirs?.http2 ?? [])]) lines.close();
  print(`${sent} requests and ${brokenHeads} broken heads, ${rate()}`);
  await finish(server);
} finally {
  await server.stop();
  await real?.stop();
}

async function open(door: Door): Promise<Side> {
  const connections = Math.ceil(lanes / LANES_PER_CONNECTION);
  return {
    door,
    staged: await stage(door, lanes),
    http2: Array.from({ length: connections }, () => http2Lines(door.host, door.port)),
  };
}

async function run(lane: number, ours: Side, theirs: Side | undefined, resources: Staged['resources']): Promise<void> {
  const dice = new Dice(seed * 1009 + lane);
  const own = linesOf(ours, lane);
  const other = theirs && linesOf(theirs, lane);
  const world = { resources, namespace: namespaceOf(lane) };
  for (let left = Math.ceil(requests / lanes); left > 0 && !ending && server.ended() === undefined; left -= 1) {
    if (dice.chance(BROKEN_HEADS)) {
      await sendBrokenHead(dice, ours.door.host, ours.door.port);
      brokenHeads += 1;
      continue;
    }
    const http = dice.chance(HTTP1) ? 1 : 2;
    const request = makeRequest(dice, world);
    const began = Date.now();
    const [mine, real] = await Promise.all([
      own[http].send(request, ours.staged.authorization(request.identity, lane)).finally(() => {
        if (Date.now() - began > SLOW_MS) slow.push(`${Date.now() - began} ms: HTTP/${http} ${describe(request)}`);
      }),
      other?.[http].send(request, theirs?.staged.authorization(request.identity, lane)),
    ]);
    sent += 1;
    counts.set(mine.status, (counts.get(mine.status) ?? 0) + 1);
    // Node ends streams whose path has a blank, which is its right; everything else has an answer.
    if (mine.status === 0 && !request.path.includes(' ')) unanswered.push(`HTTP/${http} ${describe(request)}`);
    const excused = real === undefined ? isSharedError(mine.text) : real.status === 500;
    if (mine.status === 500 && !excused) note(request, mine.text);
    if (real === undefined) continue;
    if (real.status !== mine.status) {
      const reason = differences.add({ request, http, ours: mine, real });
      if (flags.save !== undefined) appendFileSync(flags.save, lineOf({ request, http, ours: mine, real }, reason));
    } else if (!mayLeaveThemApart(request, mine.status)) continue;
    // One of them may have stored something: without it both are the same again.
    for (const gone of removalsOf(request, world.namespace)) {
      await Promise.all([
        own[1].send(gone, ours.staged.authorization('admin', lane)),
        other?.[1].send(gone, theirs?.staged.authorization('admin', lane)),
      ]);
    }
  }
  for (const lines of [own, other]) lines?.[1].close();
}

/**
 * The same answer, and not the same done: kube-apiserver deletes a collection before it refuses the form of the answer,
 * and passes over a dry run in the query of a delete that has a body. It holds claims and volumes by finalizers that a
 * controller takes off, of which none runs here, and deletes Endpoints together with their service.
 */
function mayLeaveThemApart({ body, method, path }: FuzzRequest, status: number): boolean {
  if (method !== 'DELETE') return false;
  return status === 406 || (body !== undefined && path.includes('dryRun=')) || HELD.test(path) || SERVICES.test(path);
}

/** Deletes what a request may have left, under each of the names that the lane uses. */
function removalsOf(request: FuzzRequest, namespace: string): FuzzRequest[] {
  if (request.method === 'GET') return [];
  const found = /^(\/apis?\/(?:[^/]+\/)?v[^/]+\/(?:namespaces\/[^/]+\/)?[a-z]+)(?:\/|\?|$)/.exec(request.path);
  const collection = found?.[1];
  if (collection === undefined || collection.endsWith('/namespaces')) return [];
  const paths = collection.includes('/namespaces/fuzz-')
    ? [collection]
    : NAMES.map((name) => `${collection}/${name}-${namespace}`);
  const gone = (path: string): FuzzRequest => ({
    ...request,
    method: 'DELETE',
    path: `${path}?gracePeriodSeconds=0`,
    headers: {},
    body: undefined,
  });
  const removals = paths.map(gone);
  if (SERVICES.test(collection)) removals.push(gone(collection.replace(SERVICES, '/endpoints')));
  if (!HELD.test(collection)) return removals;
  const held = collection.includes('/namespaces/fuzz-') ? NAMES.map((name) => `${collection}/${name}`) : paths;
  return [...removals, ...held.map((path) => released(request, path))];
}

/** Takes off what holds an object that is being deleted. */
function released(request: FuzzRequest, path: string): FuzzRequest {
  const headers = { 'content-type': 'application/merge-patch+json' };
  return { ...request, method: 'PATCH', path, headers, body: Buffer.from('{"metadata":{"finalizers":null}}') };
}

function linesOf({ door: { host, port }, http2 }: Side, lane: number): Record<1 | 2, Lines> {
  return { 1: http1Lines(host, port), 2: http2[lane % http2.length] as Lines };
}

function lineOf({ http, ours, real, request }: Difference, reason: string | undefined): string {
  const body = request.body?.subarray(0, 2000).toString('utf8');
  return `${JSON.stringify({ reason, http, ...request, body, ours, real })}\n`;
}

function note(request: FuzzRequest, text: string): void {
  const message = /"message": ?"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text.slice(0, 200);
  const found = serverErrors.get(message);
  if (found !== undefined) found.count += 1;
  else serverErrors.set(message, { count: 1, example: describe(request) });
}

function describe({ body, headers, identity, method, mutation, path }: FuzzRequest): string {
  const shown = body?.subarray(0, 600).toString('utf8') ?? '';
  return `${method} ${path} as ${identity} ${JSON.stringify(headers)} [${mutation}] ${shown}`;
}

async function finish(of: AttackedServer): Promise<void> {
  differences.report(print);
  for (const [message, { count, example }] of [...serverErrors].slice(0, SHOWN_ERRORS)) {
    print(`500: ${count} × ${message}\n    ${example}`);
  }
  for (const line of unanswered.slice(0, SHOWN_ERRORS)) print(`not answered: ${line}`);
  for (const line of slow.slice(0, SHOWN_ERRORS)) print(`slow: ${line}`);
  const ended = of.ended();
  const turns = ended === undefined ? await of.turns() : undefined;
  const answers = [...counts].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  print(`answers: ${answers.join(', ')}`);
  print(`sent ${sent}; the server ${ended === undefined ? 'lives' : `ended: ${ended}\n${of.output().slice(-3000)}`}`);
  print(`unhandled errors: ${turns?.unhandled ?? 'unknown'}; peak memory ${turns?.peakRssMb ?? 'unknown'} MB`);
  const errors = [...serverErrors.values()].reduce((sum, { count }) => sum + count, 0);
  print(`answers 500 that are not the real server's${real === undefined ? ' (by those known to be)' : ''}: ${errors}`);
  print(`status codes that differ and are not known: ${differences.total}`);
  print(`requests that were not answered: ${unanswered.length}`);
  const lives = turns !== undefined && turns.unhandled === 0 && turns.peakRssMb < PEAK_LIMIT_MB;
  process.exitCode = lives && errors === 0 && unanswered.length === 0 ? 0 : 1;
}
