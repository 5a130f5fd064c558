/** Keeps one copy of values that come again and again. */
export interface Pool {
  text<T extends string | null | undefined>(value: T): T;
  /** For plain JSON that nobody changes. */
  value<T>(value: T): T;
}

const MAX_ENTRIES = 100_000;

/** It forgets everything when it has grown large: what is in use stays in use, only later copies are kept apart. */
export function createPool(): Pool {
  const texts = new Map<string, string>();
  const values = new Map<string, unknown>();
  return {
    text(value) {
      if (typeof value !== 'string') return value;
      const known = texts.get(value);
      if (known !== undefined) return known as typeof value;
      if (texts.size >= MAX_ENTRIES) texts.clear();
      texts.set(value, value);
      return value;
    },
    value(value) {
      if (value === undefined || value === null) return value;
      const key = JSON.stringify(value);
      const known = values.get(key);
      if (known !== undefined) return known as typeof value;
      if (values.size >= MAX_ENTRIES) values.clear();
      values.set(key, value);
      return value;
    },
  };
}
