/**
 * `npm run test:storm -- --host embedded|cluster --runs N --seconds S --seed S [--ledgers N]
 * [--mode adopt|alongside|replace]`: gangs of every kind of owner, thirty-two clients that evict whatever there is,
 * readiness that comes and goes, replicas that are killed, ledgers that are deleted by hand. Ends with 1 when more gangs were down by evictions than a budget allows, or an eviction got an
 * answer that it must not get.
 */
import { parseArgs } from 'node:util';
import { parseMode, startPlane } from '../cluster/stage.ts';
import { BUDGETS } from './gangs.ts';
import { startClusterHost, startEmbeddedHost } from './hosts.ts';
import { complaints, playStorm, type StormResult } from './storm.ts';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: 'embedded' },
    runs: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    ledgers: { type: 'string' },
    mode: { type: 'string', default: 'adopt' },
  },
});
const seconds = Number(values.seconds);
if (values.host !== 'embedded' && values.host !== 'cluster') throw new Error('--host is embedded or cluster');
const mode = parseMode(values.mode);
const controllers = `--controllers=*${mode === 'replace' ? ',-disruption-controller' : ''}`;
const planeOptions = {
  components: ['kube-controller-manager' as const],
  flags: { 'kube-controller-manager': [controllers] },
};

async function play(seed: number): Promise<StormResult> {
  const plane = values.host === 'cluster' ? await startPlane(planeOptions) : undefined;
  try {
    const host = plane === undefined ? await startEmbeddedHost(seed) : await startClusterHost(plane, mode);
    try {
      return await playStorm(host, {
        seconds,
        seed,
        ledgers: values.ledgers === undefined ? undefined : Number(values.ledgers),
      });
    } finally {
      await host.stop();
    }
  } finally {
    await plane?.stop();
  }
}

const at = (seconds: readonly number[]): string => (seconds.length === 0 ? '' : ` (${seconds.join(', ')} s)`);
const where = values.host === 'cluster' ? `cluster, ${mode}` : values.host;
let bad = 0;
for (let run = 1; run <= Number(values.runs); run += 1) {
  const seed = Number(values.seed) + run - 1;
  const result = await play(seed);
  const wrong = complaints(result);
  const worst = BUDGETS.map(({ mayGo, name }) => `${name} ${result.worst.get(name) ?? 0} of ${mayGo} down`).join(', ');
  const answers = Object.entries(result.answers).map(([code, count]) => `${code}: ${count}`);
  console.log(
    `run ${run} on ${where}, seed ${seed}, ${seconds} s, ${result.kills.length} replicas killed${at(result.kills)}, ${result.rollovers.length} rolled over${at(result.rollovers)}, ${result.lostLedgers} ledgers deleted`,
  );
  console.log(`  ${result.outages} outages, at worst ${worst}`);
  console.log(`  answers ${answers.join(', ')}`);
  console.log(`  granted in each tenth of the time: ${result.granted.join(' ')}`);
  for (const one of wrong) console.log(`  WRONG: ${one}`);
  if (wrong.length > 0) bad += 1;
}
console.log(bad === 0 ? 'every run was as it must be' : `${bad} runs were wrong`);
process.exit(bad === 0 ? 0 : 1);
