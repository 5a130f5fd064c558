/** The ranges of pod addresses of a node: one field for the first, and a list of at most one per family. */
import { isIPv4, isIPv6 } from 'node:net';
import type { Node } from '../../../api/generated/core-v1.ts';
import { deepEqual, FieldPath, forbidden, invalid, type Issue } from '../../../machinery/values/index.ts';

const PATH = FieldPath.of('spec', 'podCIDRs');
const NO_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
const BITS = { 4: 32, 6: 128 } as const;

type Family = keyof typeof BITS;

/** The single field is the first of the list; where both are set and differ, it is believed, for older clients. */
export function settlePodCidrs({ spec }: Node): void {
  if (spec === undefined) return;
  const { podCIDR, podCIDRs } = spec;
  const [first] = podCIDRs ?? [];
  if (podCIDR && podCIDR !== first) spec.podCIDRs = [podCIDR];
  else if (!podCIDR && first !== undefined) spec.podCIDR = first;
}

export function validatePodCidrs({ spec }: Node): Issue[] {
  const cidrs = spec?.podCIDRs ?? [];
  const issues = cidrs.flatMap((cidr, index) => {
    const why = problemOf(cidr);
    return why === undefined ? [] : [invalid(PATH.index(index), cidr, why)];
  });
  if (cidrs.length < 2) return issues;
  const families = new Set(cidrs.map((cidr) => familyOf(cidr.split('/', 1)[0] ?? '')));
  if (cidrs.length > 2 || families.size < 2 || families.has(undefined)) {
    issues.push(invalid(PATH, cidrs, 'may specify no more than one CIDR for each IP family'));
  }
  return issues;
}

/** Once set they stay, as does who provides the machine. */
export function validateNodeUpdate(node: Node, old: Node): Issue[] {
  const issues: Issue[] = [];
  const before = old.spec?.podCIDRs ?? [];
  if (before.length > 0 && !deepEqual(before, node.spec?.podCIDRs ?? [])) {
    issues.push(forbidden(PATH, 'node updates may not change podCIDR except from "" to valid'));
  }
  if (old.spec?.providerID && old.spec.providerID !== node.spec?.providerID) {
    const why = 'node updates may not change providerID except from "" to valid';
    issues.push(forbidden(FieldPath.of('spec', 'providerID'), why));
  }
  if ((old.spec?.externalID ?? '') !== (node.spec?.externalID ?? '')) {
    issues.push(forbidden(FieldPath.of('spec', 'externalID'), 'may not be updated'));
  }
  return issues;
}

const familyOf = (address: string): Family | undefined => (isIPv4(address) ? 4 : isIPv6(address) ? 6 : undefined);
const withoutZeros = (text: string): string => text.replace(/(^|\.)0+(?=\d)/g, '$1');

function problemOf(cidr: string): string | undefined {
  const [address = '', length = '', ...rest] = cidr.split('/');
  const plain = address.includes(':') ? address : withoutZeros(address);
  const family = familyOf(plain);
  if (family === undefined || rest.length > 0 || !/^\d{1,3}$/.test(length) || Number(length) > BITS[family]) {
    return NO_CIDR;
  }
  if (plain !== address || withoutZeros(length) !== length) return 'must not have leading 0s in IP or prefix length';
  if (family === 6 && address.includes('.')) return 'must not have an IPv4-mapped IPv6 address';
  if (hasBitsBeyond(address, family, Number(length))) return 'must not have bits set beyond the prefix length';
  return undefined;
}

function hasBitsBeyond(address: string, family: Family, length: number): boolean {
  const host = BigInt(BITS[family] - length);
  return (numberOf(address, family) & ((1n << host) - 1n)) !== 0n;
}

function numberOf(address: string, family: Family): bigint {
  if (family === 4) return address.split('.').reduce((sum, part) => (sum << 8n) + BigInt(part), 0n);
  const [head = '', tail] = address.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [left, right] = [groups(head), groups(tail ?? '')];
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].reduce((sum, part) => (sum << 16n) + BigInt(`0x${part}`), 0n);
}

/** What is taken, and better written otherwise. */
export function podCidrWarnings({ spec }: Node): string[] {
  return (spec?.podCIDRs ?? []).flatMap((cidr, index) => {
    const [address = '', length = ''] = cidr.split('/');
    if (!isIPv6(address) || problemOf(cidr) !== undefined) return [];
    const canonical = `${new URL(`http://[${address}]/`).hostname.slice(1, -1)}/${length}`;
    if (canonical === cidr) return [];
    const why = `IPv6 CIDR value "${cidr}" should be in RFC 5952 canonical format ("${canonical}")`;
    return [`${PATH.index(index).toString()}: ${why}`];
  });
}
