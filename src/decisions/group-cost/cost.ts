import { parseTime } from '../../machinery/values/index.ts';

/** What it costs to take a group down: a number, or `checkpoint-age`. */
export const DISRUPTION_COST = 'policy.quorate.dev/disruption-cost';
/** When the application last saved its work; it keeps this up to date. */
export const CHECKPOINT_TIME = 'policy.quorate.dev/checkpoint-time';
/** What a second since then costs. */
export const CHECKPOINT_SCALE = 'policy.quorate.dev/checkpoint-scale';

const MOST = 2_147_483_647;
const MAX_SCALE = 1_000;
/** Clocks may differ by so much. */
const AHEAD_MS = 60_000;

export interface CostWarning {
  readonly reason: 'DisruptionCostInvalid' | 'CheckpointTimeInvalid' | 'CheckpointScaleInvalid';
  readonly value: string;
}

export interface GroupCost {
  readonly cost: number;
  readonly warnings: readonly CostWarning[];
}

type Annotations = Readonly<Record<string, string>> | undefined;

export interface CostSources {
  /** What the group is, its workload after it: the first that says anything counts. */
  readonly objects?: readonly Annotations[] | undefined;
  /** Its pods, where no object says anything. */
  readonly members: readonly Annotations[];
  /** When the group started to serve, in milliseconds. */
  readonly startedAt: number;
  readonly now: number;
}

/**
 * What a group costs. Numbers of members are added; of their checkpoints the oldest counts, because a group restarts
 * from its weakest. What cannot be read counts as 0, a checkpoint as old as the group, with a warning each.
 */
export function costOf({ members, now, objects = [], startedAt }: CostSources): GroupCost {
  const said = objects.find((annotations) => annotations?.[DISRUPTION_COST] !== undefined);
  const sources = said === undefined ? members : [said];
  const warnings: CostWarning[] = [];
  let sum = 0;
  let age: number | undefined;
  for (const annotations of sources) {
    const text = annotations?.[DISRUPTION_COST];
    if (text === undefined) continue;
    if (text === 'checkpoint-age') {
      age = Math.max(age ?? 0, costOfAge(annotations, { startedAt, now, warnings }));
      continue;
    }
    const value = readInteger(text);
    if (value === undefined) warnings.push({ reason: 'DisruptionCostInvalid', value: text });
    sum += value ?? 0;
  }
  return { cost: saturate(sum + (age ?? 0)), warnings };
}

function costOfAge(
  annotations: Annotations,
  { now, startedAt, warnings }: { startedAt: number; now: number; warnings: CostWarning[] },
): number {
  const text = annotations?.[CHECKPOINT_TIME];
  const time = text === undefined ? undefined : readTime(text);
  const valid = time !== undefined && time <= now + AHEAD_MS;
  if (!valid) warnings.push({ reason: 'CheckpointTimeInvalid', value: text ?? '' });
  const scaleText = annotations?.[CHECKPOINT_SCALE];
  const scale = scaleText === undefined ? 1 : readInteger(scaleText);
  const known = scale !== undefined && scale > 0 && scale <= MAX_SCALE;
  if (!known) warnings.push({ reason: 'CheckpointScaleInvalid', value: scaleText ?? '' });
  const seconds = Math.max(0, Math.floor((now - (valid ? time : startedAt)) / 1000));
  return saturate(seconds * (known ? scale : 1));
}

/** Digits only, without a plus sign, leading zeros or spaces, within what 32 bits hold. */
function readInteger(text: string): number | undefined {
  if (!/^(0|-?[1-9]\d{0,9})$/.test(text)) return undefined;
  const value = Number(text);
  return Math.abs(value) <= MOST ? value : undefined;
}

function readTime(text: string): number | undefined {
  return /(Z|[+-]\d\d:\d\d)$/.test(text) ? parseTime(text) : undefined;
}

const saturate = (value: number): number => Math.max(-MOST, Math.min(MOST, value));
