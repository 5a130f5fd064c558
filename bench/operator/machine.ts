import { readdirSync, readFileSync } from 'node:fs';

/** What processes have cost so far. */
export interface Load {
  readonly atMs: number;
  /** Processor time of everything on this machine. */
  readonly allMs: number;
  /** Of it, this process and those it started. */
  readonly ownMs: number;
}

const TICK_MS = 10;

export function load(): Load {
  // user, nice, system, idle, iowait, irq, softirq, steal
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = readFileSync('/proc/stat', 'utf8')
    .slice(5)
    .split(/\s+/, 8)
    .map(Number);
  const allMs = (user + nice + system + irq + softirq + steal) * TICK_MS;
  return { atMs: performance.now(), allMs, ownMs: ownPids().reduce((sum, pid) => sum + processorMs(pid), 0) };
}

/** More than this many processors busy with others, and a time says more about them than about us. */
export const QUIET = 0.15;

/** How many processors others kept busy between two moments. */
export function busyWithOthers(from: Load, to: Load): number {
  return Math.max(0, (to.allMs - from.allMs - (to.ownMs - from.ownMs)) / (to.atMs - from.atMs));
}

/**
 * How often a sleep of a millisecond took so much longer that the machine itself must have stood still, as virtual ones
 * do while their host is busy. To be asked while nothing else runs.
 */
export function standstills(seconds: number): { perSecond: number; share: number } {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  const end = performance.now() + seconds * 1000;
  let [count, lostMs] = [0, 0];
  for (let before = performance.now(); before < end; ) {
    Atomics.wait(nobody, 0, 0, 1);
    const now = performance.now();
    const overMs = now - before - 1;
    if (overMs >= STANDSTILL_MS) {
      count += 1;
      lostMs += overMs;
    }
    before = now;
  }
  return { perSecond: count / seconds, share: lostMs / (seconds * 1000) };
}

/** As long as reviews have to spare: more, and one that is under way is late. */
const STANDSTILL_MS = 3;

export function processorMs(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

export function memoryOf(pid: number): { residentMb: number; peakMb: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
  return { residentMb: kilobytes('VmRSS') / 1024, peakMb: kilobytes('VmHWM') / 1024 };
}

/** After the command in brackets: state, parent, …, user time 12th, system time 13th, in ticks. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function ownPids(): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => pid === process.pid || isChild(pid));
}

function isChild(pid: number): boolean {
  try {
    return Number(statOf(pid)[1]) === process.pid;
  } catch {
    return false;
  }
}
