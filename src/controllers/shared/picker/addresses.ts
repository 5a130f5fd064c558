/**
 * Which addresses a picker may live at. The host is chosen by whoever may write a ReplicaSet, while the request leaves
 * from the control plane: without this check it would be a way to reach what only the control plane can.
 */
import { BlockList, isIP } from 'node:net';
import { embeddedAddresses } from './embedded-addresses.ts';

export interface AddressRules {
  /** CIDRs, addresses or host names that lift a built-in block. */
  readonly allow?: readonly string[] | undefined;
  /** CIDRs, addresses or host names that are never called, whatever is allowed. */
  readonly deny?: readonly string[] | undefined;
}

export interface AddressPolicy {
  /** Judges a host together with every address it resolved to. */
  permits(host: string, addresses: readonly string[]): boolean;
}

/** Where clouds tell machines who they are, beside the link-local addresses. */
const METADATA = ['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32', 'fd00:ec2::254/128', 'fd20:ce::254/128'];

/** Loopback, link-local (most cloud metadata lives there), unspecified, multicast, broadcast. */
const BUILT_IN_BLOCKS = [
  ...METADATA,
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/128',
  '::1/128',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

interface RuleSet {
  readonly hosts: ReadonlySet<string>;
  readonly addresses: BlockList;
}

export function createAddressPolicy({ allow = [], deny = [] }: AddressRules = {}): AddressPolicy {
  const allowed = compile(allow);
  const denied = compile(deny);
  const blocked = compile(BUILT_IN_BLOCKS);
  return {
    permits(host, addresses) {
      const name = bare(host);
      if (addresses.length === 0 || denied.hosts.has(name)) return false;
      return addresses.every((address) => {
        if (contains(denied, address)) return false;
        return !contains(blocked, address) || allowed.hosts.has(name) || contains(allowed, address);
      });
    },
  };
}

function contains({ addresses }: RuleSet, address: string): boolean {
  const plain = address.toLowerCase().replace(/%.*$/, '');
  const family = isIP(plain);
  if (family === 0) return true;
  if (addresses.check(plain, family === 4 ? 'ipv4' : 'ipv6')) return true;
  return embeddedAddresses(plain).some((inside) => addresses.check(inside, 'ipv4'));
}

/** A dot at the end of a name changes nothing about where it leads. */
const bare = (host: string): string => host.toLowerCase().replace(/\.$/, '');

function compile(rules: readonly string[]): RuleSet {
  const hosts = new Set<string>();
  const addresses = new BlockList();
  for (const rule of rules) {
    const [address = '', prefix] = rule.split('/', 2);
    const family = isIP(address);
    if (family === 0) {
      if (prefix !== undefined) throw new RangeError(`Cannot read picker address rule "${rule}": not a CIDR`);
      hosts.add(bare(rule));
      continue;
    }
    const bits = prefix === undefined ? (family === 4 ? 32 : 128) : Number(prefix);
    if (!Number.isInteger(bits) || bits < 0 || bits > (family === 4 ? 32 : 128)) {
      throw new RangeError(`Cannot read picker address rule "${rule}": "/${prefix}" is no prefix length`);
    }
    addresses.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  }
  return { hosts, addresses };
}
