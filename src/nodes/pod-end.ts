import type { Pod } from '../api/generated/core-v1.ts';
import { annotatedMs, EXIT_AFTER, EXIT_CODE } from './annotations.ts';
import { constantExitCode, type Rules } from './rules.ts';

/** The containers whose runs end by themselves, and with which code. */
export function exitCodes(pod: Pod, rules: Rules): ReadonlyMap<string, number> {
  const codes = new Map<string, number>();
  const annotations = pod.metadata.annotations;
  const asked = annotations?.[EXIT_CODE] !== undefined || annotations?.[EXIT_AFTER] !== undefined;
  const code = Number.parseInt(annotations?.[EXIT_CODE] ?? '0', 10) & 255;
  for (const container of pod.spec?.containers ?? []) {
    const constant = asked ? code : constantExitCode(rules, pod, container);
    if (constant !== undefined) codes.set(container.name, constant);
  }
  return codes;
}

/** How long such a run lasts. */
export function runLengthMs(pod: Pod): number {
  return annotatedMs(pod, EXIT_AFTER);
}
