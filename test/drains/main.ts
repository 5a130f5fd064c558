/**
 * Four spellings of one budget in three modes, with gangs of 4 and of 8: how many outages of gangs four drains by the
 * real kubectl cost. `npm run test:drains -- [--modes adopt,replace] [--sizes 4,8]`. Prints a table; exits with 1 where a
 * budget was exceeded, a drain did not end in a mode that is exact, or a spelling costs more there than another.
 */
import { parseArgs } from 'node:util';
import { startNodes } from '../../src/app/index.ts';
import { createClient, createHttpTransport, loadKubeconfig, silentLogger } from '../../src/machinery/runtime/index.ts';
import type { OperatorMode as Mode } from '../../src/webhook/index.ts';
import * as stage from '../cluster/stage.ts';
import { type DrainCost, drainFourNodes, NODES, SPELLINGS } from './drains.ts';

const { values } = parseArgs({
  options: {
    modes: { type: 'string', default: 'adopt,alongside,replace' },
    sizes: { type: 'string', default: '4,8' },
  },
});
const modes = values.modes.split(',') as Mode[];
const sizes = values.sizes.split(',').map(Number);
const OFF = ['--controllers=*,-disruption-controller'];

interface Row extends DrainCost {
  readonly mode: Mode;
  readonly size: number;
  readonly spelling: string;
}

async function runMode(mode: Mode): Promise<Row[]> {
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
        const cost = await drainFourNodes(plane, client, { name: `s${size}-${at}`, size, spec });
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

function print({ drained, mode, mostDown, outages, size, spelling }: Row): void {
  const cells = [mode.padEnd(9), `3 x ${size}`, spelling.padEnd(19), `${outages}`, `${mostDown}`, `${drained} of 4`];
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

process.stdout.write(
  '| mode | gangs | budget | outages | most down at once | nodes drained |\n|---|---|---|---|---|---|\n',
);
const rows: Row[] = [];
for (const mode of modes) rows.push(...(await runMode(mode)));

const problems = rows.flatMap(({ drained, mode, mostDown, outages, size, spelling }) => {
  const named = `${mode}, 3 x ${size}, ${spelling}`;
  const found: string[] = mostDown > 1 ? [`${named}: ${mostDown} gangs were down at once`] : [];
  if (mode === 'alongside') return found;
  if (drained < 4) found.push(`${named}: ${drained} of 4 nodes were drained`);
  const exact = rows.find((one) => one.mode === mode && one.size === size && one.spelling === SPELLINGS[0]?.[0]);
  if (exact !== undefined && outages > exact.outages) found.push(`${named}: ${outages} outages, not ${exact.outages}`);
  return found;
});
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
