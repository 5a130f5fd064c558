/** Runs attacks one after another against one server, with a bystander beside it, and tells what they did to it. */
import { type Bystander, startBystander, type Waits } from './bystander.ts';
import type { AttackedServer, Turns } from './server.ts';

export interface Attack {
  /** The issue and its point, and what is done: `17.11 JSON patch moves`. */
  readonly name: string;
  /** Why its longest turn may be above the bound; undefined for nearly all. */
  readonly knownLong?: string;
  /** What must stand before: not part of the figures. */
  prepare?(server: AttackedServer): Promise<void>;
  /** Resolves to a few words on how the server answered. */
  run(server: AttackedServer): Promise<string>;
}

export interface Figures {
  readonly name: string;
  readonly knownLong: string | undefined;
  readonly tookMs: number;
  /** What the attack says it was answered, or how it failed. */
  readonly answer: string;
  /** True when the attack was not done in time. */
  readonly isLate: boolean;
  /** Undefined when the server did not survive, or had no time to tell. */
  readonly turns: Turns | undefined;
  readonly waits: Waits;
  readonly ended: string | undefined;
}

/** What the issue allows. */
export const BOUNDS = { longestTurnMs: 50, bystanderP99Ms: 250, peakMb: 800 } as const;

/** Long enough for the bystander to be answered often, however short the attack is. */
const WATCHED_MS = 1500;

/** An attack that has not ended by then is left, and its figures say so. */
const LIMIT_MS = 60_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function measureAttack(attack: Attack, server: AttackedServer): Promise<Figures> {
  await attack.prepare?.(server);
  // What the attack does to the server may come after its answer, so the look goes on for a while.
  let bystander: Bystander | undefined = await startBystander(server.access);
  await server.turns();
  await bystander.waits();
  const begun = performance.now();
  const running = attack.run(server).catch((error: unknown) => `failed: ${String(error)}`);
  const answer = await within(LIMIT_MS, running);
  const tookMs = performance.now() - begun;
  await pause(Math.max(200, WATCHED_MS - tookMs));
  // Telling of its turns takes a free thread, which the server may not have.
  const turns = await within(
    LIMIT_MS,
    server.turns().catch(() => undefined),
  );
  const waits = await bystander.waits();
  bystander.stop();
  bystander = undefined;
  const { knownLong, name } = attack;
  const late = `NOT DONE within ${LIMIT_MS / 1000} s`;
  return {
    name,
    knownLong,
    tookMs,
    answer: answer ?? late,
    isLate: answer === undefined,
    turns,
    waits,
    ended: server.ended(),
  };
}

/** Undefined when the time is over first. */
async function within<T>(ms: number, outcome: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
  return Promise.race([outcome, over]).finally(() => clearTimeout(timer));
}

/** True when the figures are within the bounds. A reason that is told excuses a long turn, and nothing else. */
export function isWithinBounds({ ended, isLate, knownLong, turns, waits }: Figures): boolean {
  if (ended !== undefined || isLate || turns === undefined || turns.unhandled > 0) return false;
  const mayTurnLong = knownLong !== undefined;
  return (
    (mayTurnLong || turns.longestRunMs <= BOUNDS.longestTurnMs) &&
    waits.p99Ms <= BOUNDS.bystanderP99Ms &&
    turns.peakRssMb <= BOUNDS.peakMb
  );
}

const round = (value: number | undefined): string => (value === undefined ? '-' : String(Math.round(value)));

/** A table for people: one line per attack. */
export function describeFigures(all: readonly Figures[]): string {
  const head = ['attack', 'took ms', 'longest turn ms', 'ran ms', 'bystander p99 ms', 'max ms', 'peak MB', 'answer'];
  const rows = all.map((figures) => [
    `${isWithinBounds(figures) ? ' ' : '!'} ${figures.name}`,
    round(figures.tookMs),
    round(figures.turns?.longestMs),
    round(figures.turns?.longestRunMs),
    round(figures.waits.p99Ms),
    round(figures.waits.maxMs),
    round(figures.turns?.peakRssMb),
    `${figures.ended === undefined ? '' : `SERVER ENDED (${figures.ended}); `}${figures.answer}`,
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) =>
        at === 0 || at === row.length - 1 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const reasons = all
    .filter(({ knownLong }) => knownLong !== undefined)
    .map(({ knownLong, name }) => `  ${name}: ${knownLong}`);
  const notes = reasons.length === 0 ? [] : ['', 'Longer for a reason:', ...reasons];
  return [line(head), ...rows.map(line), ...notes].join('\n');
}
