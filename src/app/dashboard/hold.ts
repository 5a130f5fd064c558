/** Keeps something in a map of bounded size: the oldest go. */
export function hold<T>(held: Map<string, T>, key: string, value: T, most: number): void {
  held.set(key, value);
  for (const oldest of held.keys()) {
    if (held.size <= most) return;
    held.delete(oldest);
  }
}
