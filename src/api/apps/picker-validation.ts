import {
  checkDnsSubdomain,
  type FieldPath,
  forbidden,
  invalid,
  type Issue,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../machinery/values/index.ts';
import type { DownscalePodPicker, HTTPPodPicker, HTTPPodPickerHeader } from '../generated/apps-v1.ts';

const MAX_PATH_CHARACTERS = 2048;
const MAX_HEADERS = 32;
const MAX_VALUE_BYTES = 8192;
const HEADER_NAME = /^[-A-Za-z0-9]+$/;
const SECRET_KEY = /^[-._a-zA-Z0-9]+$/;
const CONTROL_CHARACTER = /[\x00-\x1f\x7f]/;
const UNSENDABLE = /[\r\n\0]/;
const IPV4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;
const IPV6 = /^[0-9a-fA-F:]*:[0-9a-fA-F:.]*$/;

/** Headers that the transport sets itself. */
const RESERVED = new Set([
  'host',
  'content-length',
  'content-type',
  'accept-encoding',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'trailer',
  'expect',
]);

/** Takes a defaulted picker. */
export function validatePicker(picker: DownscalePodPicker, path: FieldPath): Issue[] {
  const { http, maxRetries, timeoutSeconds } = picker;
  return [
    ...(http === undefined || http === null
      ? [required(path.child('http'), 'exactly one protocol must be set')]
      : validateHttp(http, path.child('http'))),
    ...between(maxRetries, path.child('maxRetries'), [0, 10]),
    ...between(timeoutSeconds, path.child('timeoutSeconds'), [1, 30]),
  ];
}

export function between(value: number | undefined, path: FieldPath, [low, high]: readonly [number, number]): Issue[] {
  if (value === undefined || (Number.isInteger(value) && value >= low && value <= high)) return [];
  return [invalid(path, value, `must be between ${low} and ${high}, inclusive`)];
}

function validateHttp(
  { host, httpHeaders = [], path: urlPath, port, scheme }: HTTPPodPicker,
  path: FieldPath,
): Issue[] {
  return [
    ...validateHost(host, path.child('host')),
    ...validatePort(port, path.child('port')),
    ...validateUrlPath(urlPath ?? '/', path.child('path')),
    ...(scheme === undefined || scheme === 'HTTP' || scheme === 'HTTPS'
      ? []
      : [notSupported(path.child('scheme'), scheme, ['HTTP', 'HTTPS'])]),
    ...validateHeaders(httpHeaders, path.child('httpHeaders')),
  ];
}

/** What is sent along with a call. */
export function validateHeaders(headers: readonly HTTPPodPickerHeader[], path: FieldPath): Issue[] {
  return [
    ...(headers.length > MAX_HEADERS ? [tooMany(path, headers.length, MAX_HEADERS)] : []),
    ...headers.flatMap((header, index) => validateHeader(header, path.index(index))),
  ];
}

export function validateHost(host: string | undefined, path: FieldPath): Issue[] {
  if (!host) return [required(path)];
  if (IPV4.test(host) || IPV6.test(host) || checkDnsSubdomain(host).length === 0) return [];
  return [invalid(path, host, 'must be a DNS-1123 subdomain or an IP address, without scheme, port or path')];
}

export function validatePort(port: number | string | undefined, path: FieldPath): Issue[] {
  if (port === undefined || port === null || port === '') return [required(path)];
  const number = typeof port === 'number' ? port : /^[0-9]+$/.test(port) ? Number(port) : Number.NaN;
  if (Number.isInteger(number) && number >= 1 && number <= 65_535) return [];
  return [invalid(path, port, 'must be a number between 1 and 65535, inclusive')];
}

export function validateUrlPath(urlPath: string, path: FieldPath): Issue[] {
  const issues: Issue[] = [];
  if (!urlPath.startsWith('/')) issues.push(invalid(path, urlPath, "must start with '/'"));
  if (urlPath.length > MAX_PATH_CHARACTERS) issues.push(tooLong(path, MAX_PATH_CHARACTERS));
  if (CONTROL_CHARACTER.test(urlPath) || urlPath.includes(' ')) {
    issues.push(invalid(path, urlPath, 'must not contain control characters or spaces'));
  }
  if (urlPath.includes('#')) issues.push(invalid(path, urlPath, 'must not contain a fragment'));
  return issues;
}

function validateHeader({ name, value, valueFrom }: HTTPPodPickerHeader, path: FieldPath): Issue[] {
  const issues: Issue[] = [];
  const lowerName = (name ?? '').toLowerCase();
  if (!name) issues.push(required(path.child('name')));
  else if (!HEADER_NAME.test(name)) {
    issues.push(
      invalid(path.child('name'), name, "a valid HTTP header must consist of alphanumeric characters or '-'"),
    );
  } else if (RESERVED.has(lowerName) || lowerName.startsWith('proxy-')) {
    issues.push(invalid(path.child('name'), name, 'is set by the controller and may not be configured'));
  }
  if (value !== undefined) {
    if (UNSENDABLE.test(value)) issues.push(invalid(path.child('value'), value, 'must not contain CR, LF or NUL'));
    if (new TextEncoder().encode(value).length > MAX_VALUE_BYTES) {
      issues.push(tooLong(path.child('value'), MAX_VALUE_BYTES));
    }
  }
  if (valueFrom === undefined || valueFrom === null) return issues;
  if (value) issues.push(forbidden(path.child('valueFrom'), 'may not be specified when `value` is not empty'));
  const at = path.child('valueFrom', 'secretKeyRef');
  const reference = valueFrom.secretKeyRef;
  if (reference === undefined || reference === null) {
    issues.push(required(at));
    return issues;
  }
  if (!reference.name) issues.push(required(at.child('name')));
  if (!reference.key) issues.push(required(at.child('key')));
  else if (!SECRET_KEY.test(reference.key)) {
    issues.push(invalid(at.child('key'), reference.key, "must consist of alphanumeric characters, '-', '_' or '.'"));
  }
  return issues;
}

/** What is legal but unwise: a secret that travels in the clear. */
export function pickerWarnings(picker: DownscalePodPicker | undefined, path: FieldPath): string[] {
  const http = picker?.http;
  if (http === undefined || http.scheme === 'HTTPS') return [];
  const leaks = (http.httpHeaders ?? []).some(({ valueFrom }) => valueFrom !== undefined);
  return leaks
    ? [
        `${path.child('http', 'scheme').toString()}: header values from secrets are sent unencrypted with scheme HTTP; use HTTPS`,
      ]
    : [];
}
