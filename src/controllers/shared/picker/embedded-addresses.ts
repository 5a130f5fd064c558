/** IPv4 addresses that stand inside IPv6 ones: whoever asks for such an address may end up at the one inside. */
import { isIPv6 } from 'node:net';

/** Every IPv4 address that an IPv6 address may lead to, by any of the ways there are; none for a plain one. */
export function embeddedAddresses(address: string): string[] {
  const bytes = bytesOf(address);
  if (bytes === undefined) return [];
  const at = (offset: number): string => bytes.slice(offset, offset + 4).join('.');
  const starts = (...prefix: number[]): boolean => prefix.every((byte, index) => bytes[index] === byte);
  const found: string[] = [];
  const isZero = (from: number, to: number): boolean => bytes.slice(from, to).every((byte) => byte === 0);
  // ::a.b.c.d and ::ffff:a.b.c.d, and the translated ::ffff:0:a.b.c.d
  if (isZero(0, 12) || (isZero(0, 10) && bytes[10] === 255 && bytes[11] === 255)) found.push(at(12));
  if (isZero(0, 8) && bytes[8] === 255 && bytes[9] === 255 && isZero(10, 12)) found.push(at(12));
  // NAT64 by its well-known prefix, and by the one for local use, whose addresses stand where the prefix length says
  if (starts(0, 0x64, 0xff, 0x9b) && isZero(4, 12)) found.push(at(12));
  if (starts(0, 0x64, 0xff, 0x9b, 0, 1)) {
    const around = (before: readonly number[], after: readonly number[]): string => [...before, ...after].join('.');
    found.push(at(12));
    found.push(around(bytes.slice(6, 8), bytes.slice(9, 11)));
    found.push(around(bytes.slice(7, 8), bytes.slice(9, 12)));
    found.push(around([], bytes.slice(9, 13)));
  }
  // 6to4
  if (starts(0x20, 0x02)) found.push(at(2));
  // Teredo: its server, and its client with every bit turned
  if (starts(0x20, 0x01, 0, 0)) {
    found.push(at(4));
    found.push(
      bytes
        .slice(12)
        .map((byte) => byte ^ 255)
        .join('.'),
    );
  }
  // ISATAP
  if ((bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe) {
    found.push(at(12));
  }
  return found;
}

/** The sixteen bytes of an IPv6 address, however it is spelled. */
function bytesOf(address: string): number[] | undefined {
  if (!isIPv6(address)) return undefined;
  // The last four bytes may be written as IPv4.
  const [, head = address, dotted] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address) ?? [];
  const tail = dotted === undefined ? [] : dotted.split('.').map(Number);
  const [left = '', right] = (tail.length > 0 ? head.replace(/([^:]):$/, '$1') : head).split('::');
  const words = (text: string): number[] =>
    text
      .split(':')
      .filter((word) => word !== '')
      .flatMap((word) => {
        const value = Number.parseInt(word, 16);
        return [value >> 8, value & 255];
      });
  const before = words(left);
  const after = [...words(right ?? ''), ...tail];
  return [...before, ...Array.from({ length: Math.max(0, 16 - before.length - after.length) }, () => 0), ...after];
}
