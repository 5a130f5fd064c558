import {
  checkDnsSubdomain,
  checkQualifiedName,
  duplicate,
  type FieldPath,
  forbidden,
  invalid,
  type Issue,
  notSupported,
  parseDurationMs,
  required,
  tooMany,
} from '../../machinery/values/index.ts';
import { between, validateHeaders, validateHost, validatePort, validateUrlPath } from '../apps/picker-validation.ts';
import type { NoticeAcknowledgement, NoticeChannel, NoticeHttp, NoticeTerms } from './disruption-policy.ts';

const MAX_CHANNELS = 4;
const SHORTEST_MS = 1000;
const LONGEST_MS = 24 * 3_600_000;

export const NOTICE_ENUMS = {
  type: ['Pod', 'HTTP', 'EvictionRequest'],
  scheme: ['HTTPS', 'HTTP'],
  to: ['Group', 'EachMember'],
  from: ['AllMembers', 'Leader', 'Responder', 'Nobody'],
  onUndelivered: ['Proceed', 'Refuse'],
} as const;

/** Every rule that the terms of a notice break. */
export function validateNotice(notice: NoticeTerms, path: FieldPath): Issue[] {
  const { acknowledgement = {}, channels = [], duration, onUndelivered } = notice;
  const issues: Issue[] = [];
  const ms = duration ? parseDurationMs(duration) : undefined;
  if (!duration) issues.push(required(path.child('duration')));
  else if (ms === undefined || ms < SHORTEST_MS || ms > LONGEST_MS) {
    issues.push(invalid(path.child('duration'), duration, 'must be a duration from 1s to 24h'));
  }
  if (channels.length > MAX_CHANNELS) issues.push(tooMany(path.child('channels'), channels.length, MAX_CHANNELS));
  for (const [at, channel] of channels.entries()) {
    const here = path.child('channels').index(at);
    issues.push(...validateChannel(channel, here));
    const isAgain = channels.findIndex(({ type }) => type === channel.type) < at;
    if (isAgain && channel.type !== 'HTTP') issues.push(duplicate(here.child('type'), channel.type));
  }
  issues.push(...validateAcknowledgement(acknowledgement, path.child('acknowledgement')));
  return [...issues, ...oneOf(path.child('onUndelivered'), onUndelivered, NOTICE_ENUMS.onUndelivered)];
}

function validateChannel({ http, type }: NoticeChannel, path: FieldPath): Issue[] {
  if (!type) return [required(path.child('type'))];
  const issues = oneOf(path.child('type'), type, NOTICE_ENUMS.type);
  if (type === 'HTTP') {
    return [
      ...issues,
      ...(http === undefined ? [required(path.child('http'))] : validateCall(http, path.child('http'))),
    ];
  }
  return http === undefined ? issues : [...issues, forbidden(path.child('http'), 'is for channels of type HTTP')];
}

function validateCall(http: NoticeHttp, path: FieldPath): Issue[] {
  const { host, httpHeaders = [], pollSeconds, port, scheme = 'HTTPS', serverName, timeoutSeconds, to } = http;
  const issues = [
    ...oneOf(path.child('scheme'), scheme, NOTICE_ENUMS.scheme),
    ...oneOf(path.child('to'), to, NOTICE_ENUMS.to),
    ...validatePort(port, path.child('port')),
    ...validateUrlPath(http.path ?? '/', path.child('path')),
    ...between(timeoutSeconds, path.child('timeoutSeconds'), [1, 30]),
    ...between(pollSeconds, path.child('pollSeconds'), [2, 60]),
    ...validateHeaders(httpHeaders, path.child('httpHeaders')),
  ];
  if (to !== 'EachMember') issues.push(...validateHost(host, path.child('host')));
  else if (host !== undefined) {
    issues.push(forbidden(path.child('host'), 'each member is called at the address of its pod'));
  } else if (scheme === 'HTTPS' && !serverName) {
    issues.push(required(path.child('serverName'), 'the name in the certificates: members are called by address'));
  }
  if (serverName && checkDnsSubdomain(serverName).length > 0) {
    issues.push(invalid(path.child('serverName'), serverName, 'must be a DNS-1123 subdomain'));
  }
  return issues;
}

function validateAcknowledgement({ from, responder }: NoticeAcknowledgement, path: FieldPath): Issue[] {
  const issues = oneOf(path.child('from'), from, NOTICE_ENUMS.from);
  const at = path.child('responder');
  if (from !== 'Responder') {
    return responder === undefined ? issues : [...issues, forbidden(at, 'is for acknowledgements from: Responder')];
  }
  if (!responder) return [...issues, required(at, 'name who acknowledges, such as checkpoints.example.com/saver')];
  if (!responder.includes('/') || checkQualifiedName(responder).length > 0) {
    issues.push(invalid(at, responder, 'must be a key with a domain, such as checkpoints.example.com/saver'));
  }
  return issues;
}

function oneOf(path: FieldPath, value: string | undefined, supported: readonly string[]): Issue[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)];
}
