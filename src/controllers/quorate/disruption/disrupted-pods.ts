import { DISRUPTION_TIMEOUT_MS } from '../../../decisions/disruption/index.ts';
import { parseTime } from '../../../machinery/values/index.ts';

export interface Rebuilt {
  readonly kept: Record<string, string>;
  /** Pods that should have gone long ago and have not. */
  readonly notDeleted: readonly string[];
  readonly recheckInMs: number | undefined;
}

/**
 * Keeps of the approved evictions those whose pod is selected, not yet going, and was approved at most two minutes
 * ago. An entry exactly that old is kept although its pod counts as healthy again.
 */
export function rebuildDisruptedPods(
  old: Readonly<Record<string, string>> | undefined,
  isWaitedFor: (podName: string) => boolean,
  now: number,
): Rebuilt {
  const kept: Record<string, string> = {};
  const notDeleted: string[] = [];
  let recheckInMs: number | undefined;
  for (const [name, at] of Object.entries(old ?? {})) {
    if (!isWaitedFor(name)) continue;
    const leftMs = (parseTime(at) ?? 0) + DISRUPTION_TIMEOUT_MS - now;
    if (leftMs < 0) {
      notDeleted.push(name);
      continue;
    }
    kept[name] = at;
    recheckInMs = Math.min(recheckInMs ?? leftMs, leftMs);
  }
  return { kept, notDeleted, recheckInMs };
}
