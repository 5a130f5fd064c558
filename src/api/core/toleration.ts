/** Which taints a pod puts up with. */
import type { Taint, Toleration } from '../generated/core-v1.ts';

/** Does the toleration cover the taint? An empty key with `Exists` covers every taint; an empty effect, every effect. */
export function tolerates({ effect, key, operator, value }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  switch (operator ?? '') {
    case '':
    case 'Equal':
      return Boolean(key) && (value ?? '') === (taint.value ?? '');
    case 'Exists':
      return true;
    case 'Gt':
    case 'Lt':
      return Boolean(key) && comparesTo(operator as 'Gt' | 'Lt', taint.value, value);
    default:
      return false;
  }
}

function comparesTo(operator: 'Gt' | 'Lt', taintValue: string | undefined, own: string | undefined): boolean {
  const integer = /^-?\d+$/;
  if (!integer.test(taintValue ?? '') || !integer.test(own ?? '')) return false;
  return operator === 'Gt' ? Number(taintValue) > Number(own) : Number(taintValue) < Number(own);
}

/** For each taint the toleration that covers it; undefined when some taint is not covered. */
export function matchingTolerations(
  taints: readonly Taint[],
  tolerations: readonly Toleration[] | undefined,
): Toleration[] | undefined {
  const used: Toleration[] = [];
  for (const taint of taints) {
    const found = tolerations?.find((toleration) => tolerates(toleration, taint));
    if (found === undefined) return undefined;
    used.push(found);
  }
  return used;
}
