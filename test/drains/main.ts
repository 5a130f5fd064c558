/**
 * Four spellings of one budget in three modes, with gangs of 4 and of 8: how many outages of gangs four drains by the
 * real kubectl cost. `npm run test:drains -- [--modes adopt,replace] [--sizes 4,8] [--spellings 1,2,3,4]
 * [--unready] [--start-seconds 8]`; with --unready one pod of the first gang is not Ready from the beginning. Prints a table; exits with 1 where a
 * budget was exceeded, a drain did not end in a mode that is exact, or a spelling costs another number of outages there than `minAvailable: 2`;
 * in mode alongside where one costs more than it must.
 */
import { parseArgs } from 'node:util';
import { startNodes } from '../../src/app/index.ts';
import { createClient, createHttpTransport, loadKubeconfig, silentLogger } from '../../src/machinery/runtime/index.ts';
import type { OperatorMode as Mode } from '../../src/webhook/index.ts';
import * as stage from '../cluster/stage.ts';
import { type DrainCost, drainFourNodes, GANGS, NODES, SPELLINGS, START_SECONDS } from './drains.ts';

const { values } = parseArgs({
  options: {
    modes: { type: 'string', default: 'adopt,alongside,replace' },
    sizes: { type: 'string', default: '4,8' },
    spellings: { type: 'string', default: '1,2,3,4' },
    'start-seconds': { type: 'string', default: String(START_SECONDS) },
    unready: { type: 'boolean', default: false },
  },
});
const modes = values.modes.split(',') as Mode[];
const sizes = values.sizes.split(',').map(Number);
const spellings = values.spellings.split(',').map((at) => Number(at) - 1);
const startSeconds = Number(values['start-seconds']);
const { unready } = values;
const OFF = ['--controllers=*,-disruption-controller'];

interface Row extends DrainCost {
  readonly mode: Mode;
  readonly size: number;
  readonly spelling: string;
}

let begun = 0;
const begunAt = Date.now();
/** Apart from the table, which may be kept; a case takes a minute, or five where a drain is given up. */
const say = (text: string): boolean =>
  process.stderr.write(`${((Date.now() - begunAt) / 1000).toFixed(0).padStart(5)} s  ${text}\n`);

async function runMode(mode: Mode): Promise<Row[]> {
  say(`starting a control plane, mode ${mode}`);
  const flags = mode === 'replace' ? { flags: { 'kube-controller-manager': OFF } } : {};
  const plane = await stage.startPlane(flags);
  const nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: NODES } });
  const transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  const client = createClient({ transport: transport.send, userAgent: 'drains' });
  await stage.prepareCluster(plane);
  const operator = await stage.startReplica(plane, 'only', mode);
  await stage.registerWebhooks(plane, operator, 'native', mode);
  const rows: Row[] = [];
  try {
    for (const size of sizes) {
      for (const [at, [spelling, spec]] of SPELLINGS.entries()) {
        if (!spellings.includes(at)) continue;
        begun += 1;
        say(`${begun} of ${modes.length * sizes.length * spellings.length}: ${mode}, 3 x ${size}, ${spelling}`);
        const cost = await drainFourNodes(plane, client, { name: `s${size}-${at}`, size, spec, startSeconds, unready });
        rows.push({ mode, size, spelling, ...cost });
        print(rows.at(-1) as Row);
      }
    }
    return rows;
  } finally {
    await operator.stop();
    nodes.stop();
    transport.close();
    await plane.stop();
  }
}

function print({ drained, failures = [], mode, mostDown, outages, size, spelling }: Row): void {
  const cells = [mode.padEnd(9), `3 x ${size}`, spelling.padEnd(19), `${outages}`, `${mostDown}`, `${drained} of 4`];
  process.stdout.write(`| ${cells.join(' | ')} |\n${failures.map((text) => `${text}\n`).join('')}`);
}

process.stdout.write(
  '| mode | gangs | budget | outages | most down at once | nodes drained |\n|---|---|---|---|---|---|\n',
);
const rows: Row[] = [];
for (const mode of modes) rows.push(...(await runMode(mode)));

/** Kubernetes counts pods as well there: what it lets go at once is less than a gang under some spellings. */
function outagesAlongside(size: number, spelling: string): number {
  const pods = GANGS.length * size;
  const { maxUnavailable, minAvailable } = SPELLINGS.find(([text]) => text === spelling)?.[1] ?? {};
  const counted = (value: number | string): number =>
    typeof value === 'number' ? value : Math.ceil((pods * Number.parseInt(value, 10)) / 100);
  const mayGo = maxUnavailable === undefined ? pods - counted(minAvailable ?? 0) : counted(maxUnavailable);
  return GANGS.length * Math.ceil(size / mayGo);
}

const problems = rows.flatMap(({ drained, mode, mostDown, outages, size, spelling }) => {
  const named = `${mode}, 3 x ${size}, ${spelling}`;
  const found: string[] = mostDown > 1 ? [`${named}: ${mostDown} gangs were down at once`] : [];
  if (mode === 'alongside') {
    const most = outagesAlongside(size, spelling);
    if (outages > most) found.push(`${named}: ${outages} outages, not ${most} at most`);
    return found;
  }
  if (drained < 4) found.push(`${named}: ${drained} of 4 nodes were drained`);
  const exact = rows.find((one) => one.mode === mode && one.size === size && one.spelling === SPELLINGS[0]?.[0]);
  if (exact !== undefined && outages !== exact.outages)
    found.push(`${named}: ${outages} outages, not ${exact.outages}`);
  return found;
});
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
