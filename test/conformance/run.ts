/**
 * Runs Kubernetes' own e2e binary, unmodified, against `quorate up`, and prints what passed by sig.
 *
 *   npm run test:conformance                                   every target of classes A and P
 *   npm run test:conformance -- --sig sig-apps                 one sig
 *   npm run test:conformance -- --class A --not-serial         what one process can interleave
 *   npm run test:conformance -- --focus 'DisruptionController' any specs by ginkgo pattern
 *   npm run test:conformance -- --kubeconfig FILE              a server that already runs
 *   npm run test:conformance -- --skip PATTERN --keep          leave specs out; keep the output folder
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { requireBinaries } from '../kubernetes/binaries.ts';
import { readJunit, type SpecResult } from './junit.ts';
import { startEmbedded } from './embedded.ts';

interface Target {
  readonly class: 'A' | 'P' | 'S';
  readonly name: string;
  readonly rule?: string;
}

const { values } = parseArgs({
  options: {
    sig: { type: 'string' },
    class: { type: 'string', default: 'AP' },
    focus: { type: 'string' },
    skip: { type: 'string' },
    kubeconfig: { type: 'string' },
    'not-serial': { type: 'boolean', default: false },
    rules: { type: 'string' },
    keep: { type: 'boolean', default: false },
    timeout: { type: 'string', default: '3h' },
  },
});

const targets = JSON.parse(readFileSync(join(import.meta.dirname, 'targets.json'), 'utf8')) as Target[];
const wanted = targets.filter(
  (target) =>
    values.class.includes(target.class) &&
    (values.sig === undefined || target.name.startsWith(`[${values.sig}]`)) &&
    !(values['not-serial'] && /\[(Serial|Disruptive)\]/.test(target.name)),
);
// Ginkgo puts the suite's description before the name, so the pattern may end with `$` but not begin with `^`.
const focus = values.focus ?? wanted.map(({ name }) => `${escapePattern(name)}$`).join('|');

process.exitCode = await main();

async function main(): Promise<number> {
  const binaries = requireBinaries('1.36', ['e2e.test', 'kubectl']);
  const report = mkdtempSync(join(tmpdir(), 'quorate-conformance-'));
  const embedded = values.kubeconfig === undefined ? await startEmbedded({ rules: values.rules }) : undefined;
  try {
    const kubeconfig = values.kubeconfig ?? (embedded as { kubeconfig: string }).kubeconfig;
    const code = await runSuite({ binaries, kubeconfig, report });
    const results = readJunit(join(report, 'junit_01.xml'));
    printSummary(results);
    const failed = results.filter(({ outcome }) => outcome === 'failed').length;
    const passed = results.filter(({ outcome }) => outcome === 'passed').length;
    if (values.focus === undefined && passed + failed !== wanted.length) {
      console.log(`expected ${wanted.length} specs to run, saw ${passed + failed}: some names did not match`);
      return 1;
    }
    return failed > 0 || passed === 0 || code !== 0 ? 1 : 0;
  } finally {
    await embedded?.stop();
    if (values.keep) console.log(`output kept in ${report}`);
    else rmSync(report, { recursive: true, force: true });
  }
}

function runSuite({
  binaries,
  kubeconfig,
  report,
}: {
  binaries: string;
  kubeconfig: string;
  report: string;
}): Promise<number> {
  const child = spawn(
    join(binaries, 'e2e.test'),
    [
      '--provider=skeleton',
      `--kubeconfig=${kubeconfig}`,
      `--kubectl-path=${join(binaries, 'kubectl')}`,
      '--allowed-not-ready-nodes=0',
      '--node-schedulable-timeout=2m',
      '--system-pods-startup-timeout=2m',
      '--system-daemonsets-startup-timeout=1m',
      '--minStartupPods=0',
      '--dump-logs-on-failure=false',
      '--disable-log-dump=true',
      `--report-dir=${report}`,
      `-ginkgo.timeout=${values.timeout}`,
      '-ginkgo.no-color',
      `-ginkgo.focus=${focus}`,
      ...(values.skip === undefined ? [] : [`-ginkgo.skip=${values.skip}`]),
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

function printSummary(results: readonly SpecResult[]): void {
  const bySig = new Map<string, { passed: number; failed: string[] }>();
  for (const { name, outcome } of results) {
    if (outcome === 'skipped') continue;
    const sig = /\[(sig-[a-z-]+)\]/.exec(name)?.[1] ?? 'other';
    const row = bySig.get(sig) ?? { passed: 0, failed: [] };
    if (outcome === 'passed') row.passed += 1;
    else row.failed.push(name);
    bySig.set(sig, row);
  }
  console.log('\nsig                    passed  failed');
  let passed = 0;
  let failed = 0;
  for (const [sig, row] of [...bySig].sort(([a], [b]) => a.localeCompare(b))) {
    console.log(`${sig.padEnd(22)} ${String(row.passed).padStart(6)}  ${String(row.failed.length).padStart(6)}`);
    passed += row.passed;
    failed += row.failed.length;
  }
  for (const { failed: names } of bySig.values()) for (const name of names) console.log(`  failed: ${name}`);
  console.log(`\n${passed} passed, ${failed} failed`);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
