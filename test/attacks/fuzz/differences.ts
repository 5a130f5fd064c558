/** Where ours and the real server answer with other status codes, and which of these are known, with the reason. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from './client.ts';
import type { FuzzRequest } from './requests.ts';

/** `4xx` is any refusal but 401 and 403: those say that somebody was not allowed to, and are never taken together. */
export type KnownStatus = number | '2xx' | '4xx';

/** `any` of one side only. */
export type KnownStatuses = 'any' | KnownStatus | readonly KnownStatus[];

export interface KnownDifference {
  /** Regular expressions over the whole value; absent means any. */
  readonly method?: string;
  readonly kind?: string;
  readonly mutation?: string;
  /** What our answer says; a regular expression that is found in it. */
  readonly says?: string;
  /** What the real one says. */
  readonly realSays?: string;
  readonly path?: string;
  /** Found in the `Accept` header. */
  readonly accept?: string;
  /** Found in the body. */
  readonly body?: string;
  readonly ours: KnownStatuses;
  readonly real: KnownStatuses;
  readonly reason: string;
}

export interface Difference {
  readonly request: FuzzRequest;
  readonly http: 1 | 2;
  readonly ours: Outcome;
  readonly real: Outcome;
}

export function readKnown(): KnownDifference[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'known-differences.json'), 'utf8')) as KnownDifference[];
}

const isStatus = (known: KnownStatuses, status: number): boolean =>
  known === 'any' ||
  [known].flat().some((one) => {
    if (one === '2xx') return status >= 200 && status < 300;
    if (one === '4xx') return status >= 400 && status < 500 && status !== 401 && status !== 403;
    return one === status;
  });

const fits = (pattern: string | undefined, value: string): boolean =>
  pattern === undefined || new RegExp(`^(?:${pattern})$`, 's').test(value);
const has = (pattern: string | undefined, text: string): boolean =>
  pattern === undefined || new RegExp(pattern).test(text);

export class Differences {
  readonly #known: readonly KnownDifference[];
  readonly #counts = new Map<KnownDifference, number>();
  readonly #groups = new Map<string, { count: number; smallest: Difference }>();
  total = 0;

  constructor(known: readonly KnownDifference[]) {
    this.#known = known;
  }

  /** The reason, where it is known. */
  add(difference: Difference): string | undefined {
    const { ours, real, request } = difference;
    const known = this.#known.find(
      (entry) =>
        isStatus(entry.ours, ours.status) &&
        isStatus(entry.real, real.status) &&
        fits(entry.method, request.method) &&
        fits(entry.kind, request.kind) &&
        fits(entry.mutation, request.mutation) &&
        fits(entry.path, request.path) &&
        has(entry.accept, request.headers['accept'] ?? '') &&
        has(entry.body, request.body?.toString('utf8') ?? '') &&
        has(entry.says, ours.text) &&
        has(entry.realSays, real.text),
    );
    if (known !== undefined) {
      this.#counts.set(known, (this.#counts.get(known) ?? 0) + 1);
      return known.reason;
    }
    this.total += 1;
    const key = `${request.method} ${request.kind} | ${request.mutation} | ours ${ours.status} real ${real.status}`;
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, { count: 1, smallest: difference });
    else {
      group.count += 1;
      if (sizeOf(difference) < sizeOf(group.smallest)) group.smallest = difference;
    }
    return undefined;
  }

  /** 500s of ours that the real server answers otherwise, which no entry of the known excuses. */
  get serverErrors(): number {
    let count = 0;
    for (const group of this.#groups.values()) if (group.smallest.ours.status === 500) count += group.count;
    return count;
  }

  report(print: (line: string) => void): void {
    const groups = [...this.#groups].sort(([, a], [, b]) => b.count - a.count);
    for (const [key, { count, smallest }] of groups) {
      print(`${count} × ${key}`);
      const { request } = smallest;
      print(`    HTTP/${smallest.http} as ${request.identity}: ${request.method} ${request.path}`);
      print(`    ${JSON.stringify(request.headers)} ${request.body?.subarray(0, 400).toString('utf8') ?? ''}`);
      print(`    ours: ${messageOf(smallest.ours)}`);
      print(`    real: ${messageOf(smallest.real)}`);
    }
    for (const [entry, count] of this.#counts) {
      print(`known: ${count} × ours ${String(entry.ours)} real ${String(entry.real)}: ${entry.reason}`);
    }
  }
}

const sizeOf = ({ request }: Difference): number => (request.body?.length ?? 0) + request.path.length;

function messageOf({ status, text }: Outcome): string {
  const message = /"message": ?"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text.slice(0, 200).replace(/\s+/g, ' ');
  return `${status} ${message.slice(0, 300)}`;
}
