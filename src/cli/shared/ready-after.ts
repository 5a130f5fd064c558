import { Option } from 'commander';
import { duration } from './parse.ts';

/** How long new pods take to become ready, for all of them and by workload. */
export interface ReadyAfter {
  readonly defaultMs?: number | undefined;
  readonly byWorkload: ReadonlyMap<string, number>;
}

export function readyAfterOption(otherwise: ReadyAfter, shown: string): Option {
  return new Option(
    '--ready-after <[workload=]duration...>',
    'how long new pods take to become ready, such as 5m, or llm=20m for one workload',
  )
    .argParser((text: string, before: ReadyAfter): ReadyAfter => {
      const at = text.lastIndexOf('=');
      const ms = duration(text.slice(at + 1));
      if (at < 0) return { ...before, defaultMs: ms };
      return { ...before, byWorkload: new Map([...before.byWorkload, [text.slice(0, at), ms]]) };
    })
    .default(otherwise, shown);
}
