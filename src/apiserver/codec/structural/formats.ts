import { isIP, isIPv4, isIPv6 } from 'node:net';
import { parseDurationMs, parseTime } from '../../../machinery/values/index.ts';

const isUrl = (text: string): boolean => {
  try {
    return new URL(text).protocol !== '';
  } catch {
    return false;
  }
};

const isCidr = (text: string): boolean => {
  const slash = text.lastIndexOf('/');
  const version = slash < 0 ? 0 : isIP(text.slice(0, slash));
  const bits = /^\d+$/.test(text.slice(slash + 1)) ? Number(text.slice(slash + 1)) : -1;
  return version !== 0 && bits >= 0 && bits <= (version === 4 ? 32 : 128);
};

const isDate = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** The string formats a schema may ask for; others are not checked. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => parseTime(text) !== undefined,
  datetime: (text) => parseTime(text) !== undefined,
  date: isDate,
  duration: (text) => parseDurationMs(text) !== undefined,
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  uri: isUrl,
  hostname: (text) =>
    text.length <= 255 && text.split('.').every((label) => /^[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/.test(label)),
  email: (text) => /^[^@\s]+@[^@\s]+$/.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  mac: (text) => /^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  'k8s-short-name': (text) => text.length <= 63 && LABEL.test(text),
  'k8s-long-name': (text) => text.length <= 253 && text.split('.').every((label) => LABEL.test(label)),
};

export function hasFormat(text: string, format: string): boolean {
  return (Object.hasOwn(FORMATS, format) ? FORMATS[format]?.(text) : undefined) ?? true;
}
