/** `metav1.Time`: RFC 3339 in UTC with whole seconds, truncated. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
    lastSecond = second;
  }
  return lastText;
}

/** Most times written are now, which is the same for many writes. */
let lastSecond = Number.NaN;
let lastText = '';

/** `metav1.MicroTime`: exactly six fractional digits. */
export function formatMicroTime(ms: number): string {
  const text = new Date(ms).toISOString();
  return `${text.slice(0, 23)}000Z`;
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** Milliseconds since the epoch; undefined when absent or not RFC 3339. */
export function parseTime(text: string | null | undefined): number | undefined {
  if (text === undefined || text === null) return undefined;
  const plain = parsePlain(text);
  if (plain !== undefined) return plain;
  if (!RFC3339.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Two digits as a number; NaN when either is none. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/** The form `formatTime` writes, which nearly every timestamp has; undefined for what needs a closer look. */
function parsePlain(text: string): number | undefined {
  if (text.length !== 20 || text[4] !== '-' || text[7] !== '-' || text[10] !== 'T') return undefined;
  if (text[13] !== ':' || text[16] !== ':' || text[19] !== 'Z') return undefined;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  // Days every month has; NaN fails each of these.
  const isSafe = year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= 28;
  if (!isSafe || !(hour < 24 && minute < 60 && second < 60)) return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

const DURATION_UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** A Go duration such as `1m30s` or `500ms`, in milliseconds; undefined when it is not one. */
export function parseDurationMs(text: string): number | undefined {
  if (text === '0') return 0;
  const found = /^([+-]?)((?:\d+(?:\.\d+)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/.exec(text);
  if (found === null) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?|\.\d+)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(amount) * (DURATION_UNIT_MS[unit as string] as number);
  }
  return found[1] === '-' ? -total : total;
}

/** An age the way kubectl tables print it: `45s`, `5m30s`, `3h20m`, `2d4h`, `120d`, `2y35d`. */
export function formatAge(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (hours < 192) return withRest(Math.floor(hours / 24), 'd', hours % 24, 'h');
  const days = Math.floor(hours / 24);
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  if (years < 8) return withRest(years, 'y', days % 365, 'd');
  return `${years}y`;
}

function withRest(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;
}
