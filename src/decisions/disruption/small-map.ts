/** A map that nearly always has one entry at most: there are as many as pods, and a Map costs more than what is in it. */
export class SmallMap<K extends object, V extends object> {
  #key: K | undefined;
  #value: V | undefined;
  #others: Map<K, V> | undefined;

  get size(): number {
    return (this.#key === undefined ? 0 : 1) + (this.#others?.size ?? 0);
  }

  get(key: K): V | undefined {
    return key === this.#key ? this.#value : this.#others?.get(key);
  }

  set(key: K, value: V): void {
    if (this.#others?.has(key) === true || (this.#key ?? key) !== key) {
      (this.#others ??= new Map()).set(key, value);
      return;
    }
    this.#key = key;
    this.#value = value;
  }

  delete(key: K): void {
    if (key !== this.#key) {
      this.#others?.delete(key);
      return;
    }
    this.#key = undefined;
    this.#value = undefined;
  }

  /** Those of now: what is taken out while they are gone through changes nothing. */
  keys(): K[] {
    return [...(this.#key === undefined ? [] : [this.#key]), ...(this.#others?.keys() ?? [])];
  }

  values(): V[] {
    return [...(this.#value === undefined ? [] : [this.#value]), ...(this.#others?.values() ?? [])];
  }
}
