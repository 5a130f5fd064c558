/** What a story consists of, one after the other; a narrator decides how it looks and how fast it goes. */
export type Beat =
  /** Begins a chapter. */
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'say'; readonly text: string }
  /** What a reader would type to have the same happen. */
  | { readonly kind: 'command'; readonly text: string }
  /** What the API answered; lines as they are, with ● for what is up and ○ for what is not. */
  | { readonly kind: 'output'; readonly lines: readonly string[] }
  /** What the story promised, and whether it came true. */
  | { readonly kind: 'claim'; readonly text: string; readonly holds: boolean }
  /** What to try next: a command and what it is good for. */
  | { readonly kind: 'next'; readonly tries: readonly (readonly [command: string, what: string])[] };

export const heading = (text: string): Beat => ({ kind: 'heading', text });

/** Text may be broken over lines of source; it is told as one paragraph. */
export const say = (text: string): Beat => ({ kind: 'say', text: text.replace(/\s+/g, ' ').trim() });

export const command = (text: string): Beat => ({ kind: 'command', text });

export const output = (...lines: readonly string[]): Beat => ({ kind: 'output', lines });

export const claim = (text: string, holds: boolean): Beat => ({ kind: 'claim', text, holds });

export const next = (...tries: readonly (readonly [command: string, what: string])[]): Beat => ({
  kind: 'next',
  tries,
});
