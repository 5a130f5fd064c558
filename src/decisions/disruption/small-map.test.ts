import { expect, test } from 'vitest';
import { SmallMap } from './small-map.ts';

test('a small map says what a Map says, whatever is put in and taken out', () => {
  let state = 7;
  const draw = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  for (let round = 0; round < 200; round += 1) {
    const [own, map] = [new SmallMap<object, { at: number }>(), new Map<object, { at: number }>()];
    const keys = [{}, {}, {}];
    for (let at = 0; at < 30; at += 1) {
      const key = keys[draw(keys.length)] as object;
      if (draw(3) === 0) {
        own.delete(key);
        map.delete(key);
      } else {
        const value = { at };
        own.set(key, value);
        map.set(key, value);
      }
      expect(own.size).toBe(map.size);
      expect(new Set(own.keys())).toEqual(new Set(map.keys()));
      expect(new Set(own.values())).toEqual(new Set(map.values()));
      for (const one of keys) expect(own.get(one)).toBe(map.get(one));
    }
  }
});
