/** Objects that several readers hold at once, such as those of caches: nobody may change them. */

let frozen = false;

/** From now on shared objects are frozen, so that whoever changes one fails at once. For tests: freezing costs time. */
export function freezeSharedObjects(on = true): void {
  frozen = on;
}

/** Says that an object is shared from here on. */
export function asShared<T>(object: T): T {
  if (frozen) deepFreeze(object);
  return object;
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
}
