import type { Taint, Toleration } from '../../../api/generated/core-v1.ts';

function compares(operator: string, left: string, right: string): boolean {
  if (!/^-?\d+$/.test(left) || !/^-?\d+$/.test(right)) return false;
  return operator === 'Gt' ? Number(left) > Number(right) : Number(left) < Number(right);
}

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { effect, key, operator = 'Equal', value = '' } = toleration;
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  if (!key) return false;
  if (operator === 'Gt' || operator === 'Lt') return compares(operator, taint.value ?? '', value);
  return value === (taint.value ?? '');
}

export function firstUntolerated(taints: readonly Taint[], tolerations: readonly Toleration[]): Taint | undefined {
  return taints.find((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));
}
