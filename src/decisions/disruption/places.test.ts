import { expect, test } from 'vitest';
import { Places } from './places.ts';

test('a small map says what a Map says, whatever is put in and taken out', () => {
  let state = 7;
  const draw = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  for (let round = 0; round < 200; round += 1) {
    const [own, map] = [new Places<object, number>(), new Map<object, number>()];
    const keys = [{}, {}, {}];
    for (let at = 0; at < 30; at += 1) {
      const key = keys[draw(keys.length)] as object;
      if (draw(3) === 0) {
        own.delete(key);
        map.delete(key);
      } else {
        own.set(key, at);
        map.set(key, at);
      }
      expect(own.size).toBe(map.size);
      expect(new Set(own.keys())).toEqual(new Set(map.keys()));
      expect(own.values().sort((a, b) => a - b)).toEqual([...map.values()].sort((a, b) => a - b));
      for (const one of keys) expect(own.get(one)).toBe(map.get(one));
    }
  }
});
