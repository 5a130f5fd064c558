/** Processor time of this process and of others. */
import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** User and system seconds of processes by id; what has ended counts no more. */
export function cpuSecondsOf(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // Ended, or a system without /proc.
    }
  }
  return ticks / TICKS_PER_SECOND;
}

export function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

export interface Spent {
  readonly cpuSeconds: number;
  readonly seconds: number;
  /** Of one core. */
  readonly share: number;
}

/** What was spent since the last call. */
export function meter(cpuSeconds: () => number): () => Spent {
  let cpu = cpuSeconds();
  let at = performance.now();
  return () => {
    const [nowCpu, now] = [cpuSeconds(), performance.now()];
    const spent = { cpuSeconds: nowCpu - cpu, seconds: (now - at) / 1000 };
    cpu = nowCpu;
    at = now;
    return { ...spent, share: spent.cpuSeconds / spent.seconds };
  };
}
