import type { Pod } from '../api/generated/core-v1.ts';
import { parseDurationMs } from '../machinery/values/index.ts';

/** What a person writes on a Node or Pod to steer the simulation. */
const PREFIX = 'nodes.quorate.dev';

/** On a Node: it is ours to play. */
export const SIMULATED = `${PREFIX}/simulated`;
/** On a Node: `off` stops its heartbeats and freezes its pods. */
export const POWER = `${PREFIX}/power`;
/** On a Pod: its containers end with this code, each time they run. */
export const EXIT_CODE = `${PREFIX}/exit-code`;
/** On a Pod: how long a run lasts before it ends (a duration); with it alone the code is 0. */
export const EXIT_AFTER = `${PREFIX}/exit-after`;
/** On a Pod: `true` makes readiness fail for as long as it is there. */
export const NOT_READY_ANNOTATION = `${PREFIX}/not-ready`;
/** On a Pod: containers start this much later (a duration). */
export const START_DELAY = `${PREFIX}/start-delay`;
/** On a Pod: ready this much after its containers started (a duration). */
export const READY_DELAY = `${PREFIX}/ready-delay`;
/** On a Pod: it takes this long to stop when asked (a duration), at most its grace period. */
export const STOP_DELAY = `${PREFIX}/stop-delay`;

/** The duration an annotation asks for; 0 when absent or not a duration. */
export function annotatedMs(pod: Pod, name: string): number {
  const text = pod.metadata.annotations?.[name];
  return text === undefined ? 0 : Math.max(parseDurationMs(text) ?? 0, 0);
}
