import { expect, test } from 'vitest';
import type { Container, Pod } from '../api/generated/core-v1.ts';
import { constantExitCode, defaultRules, isImageMissing, parseRules, portsConflict } from './rules.ts';

const jobPod: Pod = {
  metadata: { ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: '1', controller: true }] },
};
const rules = { ...defaultRules, exit: true };

const exits: { name: string; container: Partial<Container>; want: number | undefined }[] = [
  { name: 'a constant exit in a shell', container: { command: ['/bin/sh', '-c', 'exit 4'] }, want: 4 },
  { name: 'true', container: { command: ['true'] }, want: 0 },
  { name: 'false by path', container: { command: ['/bin/false'] }, want: 1 },
  { name: 'a shell that sleeps', container: { command: ['sh', '-c', 'sleep 10'] }, want: undefined },
  { name: 'a script that only ends in exit', container: { command: ['sh', '-c', 'work; exit 1'] }, want: undefined },
  { name: 'the default of an image', container: { image: 'busybox:1' }, want: 0 },
  { name: 'the pause image', container: { image: 'registry.k8s.io/pause:3.10' }, want: undefined },
];
for (const { container, name, want } of exits) {
  test(`constantExitCode() of ${name} is ${want}`, () => {
    expect(constantExitCode(rules, jobPod, { name: 'c', ...container })).toBe(want);
  });
}

test('constantExitCode() says nothing about pods that no Job owns, or with the rule off', () => {
  const container = { name: 'c', command: ['false'] };
  expect(constantExitCode(rules, { metadata: {} }, container)).toBeUndefined();
  expect(constantExitCode(defaultRules, jobPod, container)).toBeUndefined();
});

test('isImageMissing() matches whole names by pattern', () => {
  const missing = { ...defaultRules, image: ['*:404'] };
  expect(isImageMissing(missing, 'example.com/web:404')).toBe(true);
  expect(isImageMissing(missing, 'web:4040')).toBe(false);
  expect(isImageMissing(defaultRules, 'web:404')).toBe(false);
});

test('parseRules() refuses names it does not know', () => {
  expect(parseRules('probe,exit')).toMatchObject({ probe: true, exit: true, hostport: false });
  expect(parseRules('')).toMatchObject({ probe: false });
  expect(parseRules('probe,magic')).toBeUndefined();
});

test('portsConflict() compares port, protocol and address', () => {
  const withPort = (hostPort: number, hostIP?: string, protocol?: string): Pod => ({
    metadata: {},
    spec: { containers: [{ name: 'c', ports: [{ containerPort: 1, hostPort, hostIP, protocol }] }] },
  });
  expect(portsConflict(withPort(80), withPort(80, '127.0.0.1'))).toBe(true);
  expect(portsConflict(withPort(80, '127.0.0.1'), withPort(80, '127.0.0.2'))).toBe(false);
  expect(portsConflict(withPort(80), withPort(80, undefined, 'UDP'))).toBe(false);
  expect(portsConflict(withPort(80), withPort(81))).toBe(false);
});
