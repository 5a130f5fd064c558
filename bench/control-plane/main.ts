/**
 * Measures the embedded control plane, and the same load on etcd + kube-apiserver where their binaries are built.
 *
 *   npm run bench:control-plane                  everything; takes some minutes
 *   npm run bench:control-plane -- pods fan-out  some of it: store, pods, pods-watched, fan-out, scale
 *   npm run bench:control-plane -- --quick       everything small, to see that it runs
 *   npm run bench:control-plane -- --json        one JSON array instead of the table
 */
import { parseArgs } from 'node:util';
import { measurePods, measureWatchedCreates } from './pods.ts';
import { formatRows, type Measure, ratio, type Row } from './report.ts';
import { measureScale } from './scale.ts';
import { measureStore } from './store.ts';
import { startKubernetes, startQuorate, type Target, withFolder } from './target.ts';
import { measureFanOut } from './watch-fan-out.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});
const { quick } = values;

const onOwn = (measure: (target: Target) => Promise<Measure[]>, options?: { apiOnly: boolean }): Promise<Measure[]> =>
  withFolder(async (folder) => {
    const target = await startQuorate(folder, options);
    try {
      return await measure(target);
    } finally {
      await target.stop();
    }
  });

/** API server against API server: neither has controllers beside it. */
const onBoth = (measure: (target: Target) => Promise<Measure[]>) => async (): Promise<Row[]> => {
  const own = await onOwn(measure, { apiOnly: true });
  const kubernetes = await startKubernetes();
  let reference: Measure[] = [];
  if (kubernetes !== undefined) {
    try {
      reference = await measure(kubernetes);
    } finally {
      await kubernetes.stop();
    }
  }
  return own.map((one, at) => ({ measure: one, reference: reference[at] }));
};
/** The same, taking turns on both. */
const inTurns = (measure: (targets: readonly Target[]) => Promise<Measure[][]>) => (): Promise<Row[]> =>
  withFolder(async (folder) => {
    const targets: Target[] = [await startQuorate(folder, { apiOnly: true })];
    try {
      const kubernetes = await startKubernetes();
      if (kubernetes !== undefined) targets.push(kubernetes);
      const [own = [], reference = []] = await measure(targets);
      return own.map((one, at) => ({ measure: one, reference: reference[at] }));
    } finally {
      for (const target of targets) await target.stop();
    }
  });
const alone = (measure: () => Promise<Measure[]>) => async (): Promise<Row[]> =>
  (await measure()).map((one) => ({ measure: one }));

const benchmarks: Readonly<Record<string, () => Promise<Row[]>>> = {
  store: alone(() => measureStore({ entries: quick ? 2000 : 50_000 })),
  pods: inTurns((targets) => measurePods(targets, { pods: quick ? 500 : 15_000 })),
  'pods-watched': alone(() => onOwn((target) => measureWatchedCreates(target, { pods: quick ? 500 : 10_000 }))),
  'fan-out': onBoth((target) => measureFanOut(target, { watchers: quick ? 100 : 1000, writes: quick ? 5 : 50 })),
  scale: alone(() => measureScale(quick ? { pods: 2000, nodes: 100 } : { pods: 150_000, nodes: 5000 })),
};

const chosen = positionals.length === 0 ? Object.keys(benchmarks) : positionals;
const rows: Row[] = [];
for (const name of chosen) {
  const run = benchmarks[name];
  if (run === undefined) throw new Error(`No benchmark "${name}"; there are ${Object.keys(benchmarks).join(', ')}`);
  process.stderr.write(`measuring ${name}…\n`);
  rows.push(...(await run()));
}
console.log(
  values.json
    ? JSON.stringify(
        rows.map((row) => ({ ...row, ratio: ratio(row) })),
        null,
        2,
      )
    : formatRows(rows),
);
