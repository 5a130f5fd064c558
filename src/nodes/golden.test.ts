import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Pod, PodCondition, PodStatus } from '../api/generated/core-v1.ts';
import { draw } from './draw.ts';
import { observe } from './observe.ts';
import { type MatchedSince, pickStage } from './pick-stage.ts';
import { statusPatch } from './pod-effects.ts';
import { defaultRules, type Rules } from './rules.ts';
import { generalPodStages } from './stages/pod.ts';

/**
 * Each `testdata/NAME.input.yaml` holds a pod as the API server has it and the rules in force; the
 * `.output.yaml` beside it, the steps that follow. Set UPDATE_GOLDEN=1 to write the outputs anew.
 */
interface Input {
  readonly rules?: Partial<Rules>;
  readonly portsTaken?: boolean;
  readonly steps?: number;
  readonly pod: Pod;
}

const START = Date.parse('2026-01-01T00:00:00Z');
const folder = new URL('./testdata/', import.meta.url);

for (const file of readdirSync(folder).filter((name) => name.endsWith('.input.yaml'))) {
  const name = file.slice(0, -'.input.yaml'.length);
  test(`a pod on a simulated node: ${name.replaceAll('-', ' ')}`, () => {
    const input = parse(readFileSync(new URL(file, folder), 'utf8')) as Input;
    const steps = playSteps(input);
    const target = new URL(`${name}.output.yaml`, folder);
    if (process.env.UPDATE_GOLDEN === '1') {
      writeFileSync(target, stringify(steps, { lineWidth: 0, aliasDuplicateObjects: false }));
    }
    expect(steps).toEqual(parse(readFileSync(target, 'utf8')));
  });
}

function playSteps({ pod: given, portsTaken = false, rules, steps: limit = 4 }: Input): unknown[] {
  let pod = given;
  let now = START;
  let before: MatchedSince = new Map();
  const steps: unknown[] = [];
  while (steps.length < limit) {
    const site = {
      now,
      rules: { ...defaultRules, ...rules },
      hostIP: '172.16.0.1',
      podIP: '10.128.0.1',
      portsTaken: () => portsTaken,
    };
    const at = now;
    const { since, step } = pickStage(generalPodStages, observe(pod, site), {
      before,
      draw: (stage) => draw(1, pod.metadata.uid ?? '', stage),
      clock: { now: () => at, elapsed: () => at },
    });
    if (step === undefined) break;
    before = since;
    if (step.due > now) {
      now = step.due;
      continue;
    }
    before = new Map();
    const { effect, name } = step.stage;
    if (effect === 'remove') {
      steps.push({ stage: name, afterMs: now - START, delete: { gracePeriodSeconds: 0 } });
      break;
    }
    const status = statusPatch(effect, pod, site);
    steps.push({ stage: name, afterMs: now - START, status: shorten(status ?? null) });
    if (status === undefined) break;
    pod = { ...pod, status: merge(pod.status ?? {}, status) };
  }
  return steps;
}

/** Strategic merge of a pod status: conditions by type, the rest whole. */
function merge(status: PodStatus, patch: Partial<PodStatus>): PodStatus {
  const conditions = new Map<string, PodCondition>();
  for (const condition of [...(status.conditions ?? []), ...(patch.conditions ?? [])]) {
    const joined = { ...conditions.get(condition.type), ...condition } as Record<string, unknown>;
    for (const key of Object.keys(joined)) if (joined[key] === null) delete joined[key];
    conditions.set(condition.type, joined as unknown as PodCondition);
  }
  return { ...status, ...patch, conditions: [...conditions.values()] };
}

/** JSON as it travels, hashes cut short. */
function shorten(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/([0-9a-f]{6})[0-9a-f]{58}/g, '$1'));
}
