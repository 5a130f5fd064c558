/** A map for one entry, hardly ever more: there is one for each of many pods, and a Map takes four times as much. */
export class Places<K, V> {
  #key: K | undefined;
  #value: V | undefined;
  #more: Map<K, V> | undefined;

  get(key: K): V | undefined {
    return this.#key === key ? this.#value : this.#more?.get(key);
  }

  set(key: K, value: V): void {
    if (this.#key === undefined && this.#more?.has(key) !== true) this.#key = key;
    if (this.#key === key) this.#value = value;
    else (this.#more ??= new Map()).set(key, value);
  }

  delete(key: K): void {
    if (this.#key !== key) {
      this.#more?.delete(key);
      return;
    }
    this.#key = undefined;
    this.#value = undefined;
  }

  get size(): number {
    return (this.#key === undefined ? 0 : 1) + (this.#more?.size ?? 0);
  }

  keys(): K[] {
    const more = this.#more === undefined ? [] : [...this.#more.keys()];
    return this.#key === undefined ? more : [this.#key, ...more];
  }

  values(): V[] {
    return this.keys().flatMap((key) => this.get(key) ?? []);
  }
}
