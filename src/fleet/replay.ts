/** What `quorate simulate -o json` wrote, to be gone through moment by moment. Pure. */
import { isObject } from '../machinery/values/index.ts';

export interface ReplayPoint {
  readonly seconds: number;
  readonly available: number;
  readonly desired: number;
}

export interface ReplayedBudget {
  /** `namespace/name`. */
  readonly id: string;
  readonly unit: 'pods' | 'groups';
  /** A point for each change. */
  readonly points: readonly ReplayPoint[];
}

export interface Replay {
  readonly seconds: number;
  readonly end: string;
  readonly budgets: readonly ReplayedBudget[];
  readonly disruptedOnce: readonly string[];
  readonly disruptedAgain: readonly { readonly group: string; readonly times: number }[];
  readonly events: readonly { readonly seconds: number; readonly text: string }[];
}

/** Throws, with the field, where it is something else: people open the wrong file. */
export function readReplay(text: string): Replay {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('This is no JSON: quorate simulate FILE -o json makes it');
  }
  const top = objectAt(value, '');
  if (typeof top['seconds'] !== 'number' || !Array.isArray(top['events'])) {
    throw new Error('This is no result of quorate simulate -o json: seconds or events is missing');
  }
  listAt(top, 'budgets').forEach((budget, at) => checkPoints(objectAt(budget, `budgets[${at}]`), `budgets[${at}]`));
  listAt(top, 'events').forEach((event, at) => {
    const { seconds, text: said } = objectAt(event, `events[${at}]`);
    if (typeof seconds !== 'number' || typeof said !== 'string')
      throw new Error(`events[${at}] has no seconds or text`);
  });
  for (const name of ['disruptedOnce', 'disruptedAgain']) listAt(top, name);
  return value as Replay;
}

function objectAt(value: unknown, path: string): Record<string, unknown> {
  if (!isObject(value)) throw new Error(`${path === '' ? 'The file' : path} is no object`);
  return value;
}

function listAt(object: Record<string, unknown>, name: string): readonly unknown[] {
  const value = object[name];
  if (!Array.isArray(value)) throw new Error(`${name} is no list`);
  return value;
}

function checkPoints(budget: Record<string, unknown>, path: string): void {
  if (typeof budget['id'] !== 'string') throw new Error(`${path}.id is no text`);
  listAt(budget, 'points').forEach((point, at) => {
    const { available, desired, seconds } = objectAt(point, `${path}.points[${at}]`);
    if ([available, desired, seconds].some((one) => typeof one !== 'number')) {
      throw new Error(`${path}.points[${at}] needs seconds, available and desired`);
    }
  });
}

/** Where a budget stands at this moment: what the last change before it left. */
export function pointAt({ points }: ReplayedBudget, seconds: number): ReplayPoint | undefined {
  return points.findLast((point) => point.seconds <= seconds) ?? points[0];
}

/** What has happened until then, the newest first. */
export function eventsUntil({ events }: Replay, seconds: number, most: number): Replay['events'] {
  return events
    .filter((event) => event.seconds <= seconds)
    .slice(-most)
    .reverse();
}

/** Moments at which something changes, to step through. */
export function momentsOf({ budgets, events, seconds }: Replay): number[] {
  const all = [0, seconds, ...events.map((event) => event.seconds)];
  for (const { points } of budgets) all.push(...points.map((point) => point.seconds));
  return [...new Set(all)].filter((one) => one <= seconds).sort((a, b) => a - b);
}
