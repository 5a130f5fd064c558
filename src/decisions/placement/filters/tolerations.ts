import type { Taint, Toleration } from '../../../api/generated/core-v1.ts';

/** As Kubernetes prints a 64-bit integer: no plus sign, no leading zeros, no minus zero. */
const CANONICAL = /^(0|-?[1-9]\d{0,18})$/;

function compares(operator: string, left: string, right: string): boolean {
  if (!CANONICAL.test(left) || !CANONICAL.test(right)) return false;
  return operator === 'Gt' ? BigInt(left) > BigInt(right) : BigInt(left) < BigInt(right);
}

/** `comparison`: the cluster knows `Gt` and `Lt`; where it does not they tolerate nothing. */
export function tolerates(toleration: Toleration, taint: Taint, comparison = false): boolean {
  const { effect, key, operator = 'Equal', value = '' } = toleration;
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  if (!key) return false;
  if (operator === 'Gt' || operator === 'Lt') return comparison && compares(operator, taint.value ?? '', value);
  return value === (taint.value ?? '');
}

export function firstUntolerated(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  comparison = false,
): Taint | undefined {
  return taints.find((taint) => !tolerations.some((toleration) => tolerates(toleration, taint, comparison)));
}
