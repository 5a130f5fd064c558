import { writeFileSync } from 'node:fs';
import { type Action, readSnapshot, simulate, type SimulationResult } from '../../tasks/index.ts';
import { parseDurationMs } from '../../machinery/values/index.ts';
import { failWith } from '../shared/fail.ts';
import { formatOutput, type OutputFormat } from '../shared/output.ts';
import type { ReadyAfter } from '../shared/ready-after.ts';
import { formatReport } from './html.ts';
import { drawPng } from './picture/png.ts';
import { drawSvg } from './picture/svg.ts';
import { formatSimulation, formatSpan } from './text.ts';

export interface SimulateFlags {
  readonly drain?: string[];
  readonly upgrade?: boolean;
  readonly scaleDown?: string[];
  readonly fail?: string[];
  readonly rollout?: string[];
  readonly replace?: string[];
  readonly spot?: string[];
  readonly wait?: number;
  readonly nodeStart: number;
  readonly recoverAfter?: number;
  readonly nodeDowntime: number;
  readonly readyAfter: ReadyAfter;
  readonly order: 'plan' | 'node-by-node';
  readonly for: number;
  readonly step: number;
  readonly seed: number;
  readonly out?: string;
  readonly output: OutputFormat;
}

const BROKEN = 3;
/** What clouds usually give. */
const SPOT_NOTICE_MS = 120_000;

export async function runSimulate(file: string, flags: SimulateFlags): Promise<number> {
  const { stderr } = process;
  try {
    const actions = readActions(flags);
    const snapshot = readSnapshot(file);
    const result = await simulate(snapshot, {
      actions,
      order: flags.order,
      nodeDowntimeMs: flags.nodeDowntime,
      recoverAfterMs: flags.recoverAfter,
      nodeStartMs: flags.nodeStart,
      reload: { defaultMs: flags.readyAfter.defaultMs ?? 0, byWorkload: flags.readyAfter.byWorkload },
      limitMs: flags.for,
      stepMs: flags.step,
      seed: flags.seed,
      onProgress: stderr.isTTY
        ? (ms) => stderr.write(`\r\u001b[2Ksimulated ${formatSpan(Math.round(ms / 1000))}`)
        : undefined,
    });
    if (stderr.isTTY) stderr.write('\r\u001b[2K');
    if (flags.out !== undefined) {
      const source = `${file}, seed ${flags.seed}`;
      writeFileSync(flags.out, drawerFor(flags.out)(result, source));
    }
    process.stdout.write(formatOutput(result, formatSimulation(result), flags.output));
    return isBroken(result) ? BROKEN : 0;
  } catch (error) {
    return failWith('simulate', error);
  }
}

/** By the file's ending; the flag lets no others through. */
function drawerFor(file: string): (result: SimulationResult, source: string) => string | Buffer {
  if (/\.html$/i.test(file)) return formatReport;
  return /\.png$/i.test(file) ? drawPng : drawSvg;
}

/** A budget that was broken before and stayed untouched is not the story's doing, but it is broken all the same. */
function isBroken({ actions, budgets }: SimulationResult): boolean {
  return budgets.some(({ violations }) => violations.length > 0) || actions.some(({ finished }) => !finished);
}

function readActions({ drain, fail, replace, rollout, scaleDown, spot, upgrade, wait }: SimulateFlags): Action[] {
  const actions: Action[] = [];
  if (drain !== undefined) actions.push({ kind: 'drain', nodes: drain });
  if (upgrade === true) actions.push({ kind: 'upgrade' });
  for (const text of scaleDown ?? []) {
    const at = text.lastIndexOf('=');
    const replicas = Number(text.slice(at + 1));
    if (at < 0 || !Number.isInteger(replicas) || replicas < 0) {
      throw new Error(`cannot read --scale-down ${text}: it must be KIND/NAME=REPLICAS`);
    }
    actions.push({ kind: 'scale', workload: text.slice(0, at), replicas });
  }
  for (const workload of rollout ?? []) actions.push({ kind: 'rollout', workload });
  if (fail !== undefined) actions.push({ kind: 'fail', nodes: fail });
  if (replace !== undefined) actions.push({ kind: 'replace', nodes: replace });
  for (const text of spot ?? []) {
    const at = text.lastIndexOf('=');
    const noticeMs = at < 0 ? SPOT_NOTICE_MS : parseDurationMs(text.slice(at + 1));
    if (noticeMs === undefined)
      throw new Error(`cannot read --spot ${text}: it must be NODE or NODE=NOTICE, such as n1=2m`);
    actions.push({ kind: 'spot', node: at < 0 ? text : text.slice(0, at), noticeMs });
  }
  if (wait !== undefined) actions.push({ kind: 'wait', ms: wait });
  if (actions.length === 0) {
    throw new Error(
      'say what happens: --drain, --upgrade, --replace, --scale-down, --rollout, --fail, --spot or --wait',
    );
  }
  return actions;
}
