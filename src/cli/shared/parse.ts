/** What is typed after a flag, read and refused in one way for all commands. */
import { InvalidArgumentError } from 'commander';
import { parseDurationMs } from '../../machinery/values/index.ts';

/** Reads a whole number of at most nine digits. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

export function wholeNumberUpTo(max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value <= max)) throw new InvalidArgumentError(`It must be a whole number from 0 to ${max}.`);
    return value;
  };
}

/** Milliseconds; `0` is none. */
export function duration(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined || ms < 0) throw new InvalidArgumentError('It must be a duration such as 30s or 5m.');
  return ms;
}

export function someDuration(text: string): number {
  const ms = duration(text);
  if (ms === 0) throw new InvalidArgumentError('It must be a duration above 0, such as 30s or 5m.');
  return ms;
}

/** For a flag that may be given more than once. */
export const collect = (text: string, before: readonly string[] = []): string[] => [...before, text];

/** Likewise, of NAMESPACE/NAME. */
export function collectNamespaced(text: string, before: readonly string[] = []): string[] {
  const part = '[a-z0-9]([-a-z0-9.]*[a-z0-9])?';
  if (!new RegExp(`^${part}/${part}$`).test(text))
    throw new InvalidArgumentError('It must be NAMESPACE/NAME, such as ml/checkpoints.');
  return [...before, text];
}

/** `a,b` as its parts. */
export const commaList = (text: string): string[] => text.split(',').filter((item) => item !== '');
