/** Which taints a pod puts up with. */
import type { Taint, Toleration } from '../generated/core-v1.ts';

/** As Kubernetes prints a 64-bit integer: no plus sign, no leading zeros, no minus zero. */
const CANONICAL = /^(0|-?[1-9]\d{0,18})$/;

function compares(operator: string, left: string, right: string): boolean {
  if (!CANONICAL.test(left) || !CANONICAL.test(right)) return false;
  return operator === 'Gt' ? BigInt(left) > BigInt(right) : BigInt(left) < BigInt(right);
}

/**
 * Does the toleration cover the taint? An empty key with `Exists` covers every taint; an empty effect, every effect.
 * `comparison`: the cluster knows `Gt` and `Lt`; where it does not they tolerate nothing.
 */
export function tolerates(toleration: Toleration, taint: Taint, comparison = false): boolean {
  const { effect, key, operator, value = '' } = toleration;
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  if (!key) return false;
  if (operator === 'Gt' || operator === 'Lt') return comparison && compares(operator, taint.value ?? '', value);
  return (!operator || operator === 'Equal') && value === (taint.value ?? '');
}

export function firstUntolerated(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  comparison = false,
): Taint | undefined {
  return taints.find((taint) => !tolerations.some((toleration) => tolerates(toleration, taint, comparison)));
}
