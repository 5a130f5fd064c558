/** What probes are told: each check by name, and what is wrong now. */
import type { Clock } from '../machinery/runtime/index.ts';

export interface ProbeCheck {
  readonly name: string;
  /** Nothing may be decided while it fails. */
  readonly needed?: boolean;
  /** What is wrong now, in words; undefined where all is well. */
  readonly problem: () => string | undefined;
  /** Why a problem does not make the probe fail now; undefined where it does. */
  readonly excuse?: (() => string | undefined) | undefined;
}

export interface HealthAnswer {
  readonly status: 200 | 503;
  readonly text: string;
}

export function answerProbe(checks: readonly ProbeCheck[], { verbose }: { verbose: boolean }): HealthAnswer {
  const found = checks.map((check) => lineOf(check));
  const status = found.every(({ fails }) => !fails) ? 200 : 503;
  if (!verbose && status === 200) return { status, text: 'ok' };
  const shown = verbose ? found : found.filter(({ fails }) => fails);
  return { status, text: shown.map(({ line }) => line).join('\n') };
}

function lineOf({ excuse, name, problem }: ProbeCheck): { fails: boolean; line: string } {
  const wrong = problem();
  if (wrong === undefined) return { fails: false, line: `[+]${name} ok` };
  const excused = excuse?.();
  if (excused !== undefined) return { fails: false, line: `[+]${name} not ok: ${wrong}; still ready: ${excused}` };
  return { fails: true, line: `[-]${name}: ${wrong}` };
}

/** Why nothing can be decided now; undefined where it can. */
export function undecidable(checks: readonly ProbeCheck[]): string | undefined {
  for (const { name, needed, problem } of checks) {
    const wrong = needed === true ? problem() : undefined;
    if (wrong !== undefined) return `${name}: ${wrong}`;
  }
  return undefined;
}

const TICK_MS = 1000;
const BLOCKED_MS = 5000;
/** For so long a blocked thread is told of; while it was blocked nobody could be told anything. */
const TOLD_MS = 10_000;

/** Fails when the only thread stood still for five seconds, now or a moment ago. */
export function watchEventLoop(clock: Clock): ProbeCheck & { stop(): void } {
  let turnedMs = clock.elapsed();
  let blocked: { atMs: number; forMs: number } | undefined;
  let cancel = (): void => {};
  const look = (): void => {
    const gapMs = clock.elapsed() - turnedMs;
    turnedMs += gapMs;
    if (gapMs > BLOCKED_MS) blocked = { atMs: turnedMs, forMs: gapMs };
  };
  const tick = (): void => {
    look();
    cancel = clock.after(TICK_MS, tick);
  };
  tick();
  return {
    name: 'event-loop',
    problem() {
      look();
      if (blocked === undefined || clock.elapsed() - blocked.atMs > TOLD_MS) return undefined;
      return `it stood still for ${Math.round(blocked.forMs / 1000)} s`;
    },
    stop: () => cancel(),
  };
}
