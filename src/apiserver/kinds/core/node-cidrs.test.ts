import { expect, test } from 'vitest';
import type { Node, NodeSpec } from '../../../api/generated/core-v1.ts';
import { podCidrWarnings, settlePodCidrs, validateNodeUpdate, validatePodCidrs } from './node-cidrs.ts';

const node = (spec: NodeSpec): Node => {
  const made = { metadata: { name: 'n' }, spec: { ...spec } };
  settlePodCidrs(made);
  return made;
};

// What kube-apiserver v1.36.4 made of each.
const settled: readonly (readonly [string, NodeSpec, readonly string[]])[] = [
  ['the single field becomes the list', { podCIDR: '10.1.0.0/24' }, ['10.1.0.0/24']],
  ['the list becomes the single field', { podCIDRs: ['10.1.0.0/24', 'fd00::/64'] }, ['10.1.0.0/24', 'fd00::/64']],
  [
    'the single field wins over a list that differs',
    { podCIDR: '10.1.0.0/24', podCIDRs: ['10.2.0.0/24', 'fd00::/64'] },
    ['10.1.0.0/24'],
  ],
];
test.each(settled)('podCIDRs of a node: %s', (_name, spec, podCIDRs) => {
  expect(node(spec).spec).toEqual({ podCIDR: podCIDRs[0], podCIDRs });
});

const NO_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
const ONE = 'may specify no more than one CIDR for each IP family';
const checked: readonly (readonly [readonly string[], readonly string[]])[] = [
  [['10.1.0.0/24', 'fd00::/64'], []],
  [['fd00::/64', '10.1.0.0/24'], []],
  [['10.1.0.0/24', '10.2.0.0/24'], [ONE]],
  [['10.1.0.0/24', 'fd00::/64', '10.2.0.0/24'], [ONE]],
  [['nope'], [NO_CIDR]],
  [['10.1.0.0'], [NO_CIDR]],
  [['10.1.0.0/33'], [NO_CIDR]],
  [['10.1.0.5/24'], ['must not have bits set beyond the prefix length']],
  [['fd00::1/64'], ['must not have bits set beyond the prefix length']],
  [['10.1.0.5/32'], []],
  [['010.1.0.0/24'], ['must not have leading 0s in IP or prefix length']],
  [['10.1.0.0/024'], ['must not have leading 0s in IP or prefix length']],
  [['::ffff:10.1.0.0/120'], ['must not have an IPv4-mapped IPv6 address']],
];
test.each(checked)('podCIDRs %j of a node: %j', (podCIDRs, whys) => {
  const issues = validatePodCidrs(node({ podCIDRs: [...podCIDRs] }));
  expect(issues.map(({ message }) => message.replace(/^Invalid value: .*?: (?=m)/, ''))).toEqual(whys);
});

test('podCIDRs of a node stay once they are set, also when one is added; so does who provides the machine', () => {
  const path = (spec: NodeSpec, old: NodeSpec) => validateNodeUpdate(node(spec), node(old)).map((issue) => issue.path);
  const set = { podCIDR: '10.1.0.0/24' };
  expect(path(set, {})).toEqual([]);
  expect(path({ podCIDRs: ['10.1.0.0/24'] }, set)).toEqual([]);
  expect(path({ podCIDR: '10.2.0.0/24' }, set)).toEqual(['spec.podCIDRs']);
  expect(path({ podCIDRs: ['10.1.0.0/24', 'fd00::/64'] }, set)).toEqual(['spec.podCIDRs']);
  expect(path({}, set)).toEqual(['spec.podCIDRs']);
  expect(path({ providerID: 'a' }, {})).toEqual([]);
  expect(path({ providerID: 'b' }, { providerID: 'a' })).toEqual(['spec.providerID']);
  expect(path({ externalID: 'b' }, {})).toEqual(['spec.externalID']);
});

test('podCIDRs of a node that could be written shorter are taken with a warning', () => {
  expect(podCidrWarnings(node({ podCIDRs: ['fd00:0::/64', '10.1.0.0/24'] }))).toEqual([
    'spec.podCIDRs[0]: IPv6 CIDR value "fd00:0::/64" should be in RFC 5952 canonical format ("fd00::/64")',
  ]);
});
