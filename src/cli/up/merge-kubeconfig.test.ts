import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { mergeKubeconfig, userKubeconfig } from './merge-kubeconfig.ts';

let folder: string;
let source: string;
let target: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-merge-'));
  source = join(folder, 'own');
  target = join(folder, 'home', 'config');
  writeFileSync(
    source,
    'clusters: [{name: q, cluster: {server: "https://a"}}]\nusers: [{name: admin, user: {token: t}}]\ncontexts: [{name: q, context: {cluster: q, user: admin}}]\n',
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const names = (path: string) => {
  const config = parse(readFileSync(path, 'utf8')) as Record<string, { name: string }[]> & Record<string, string>;
  return [
    config['current-context'],
    ...['clusters', 'users', 'contexts'].map((list) => config[list]?.map(({ name }) => name)),
  ];
};

test('the entry is added, made the current one, and taken away again', () => {
  rmSync(join(folder, 'home'), { recursive: true, force: true });
  const undo = mergeKubeconfig(source, target);
  expect(parse(readFileSync(target, 'utf8'))).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'quorate', cluster: { server: 'https://a' } }],
    users: [{ name: 'quorate', user: { token: 't' } }],
    contexts: [{ name: 'quorate', context: { cluster: 'quorate', user: 'quorate' } }],
    'current-context': 'quorate',
  });
  expect(statSync(target).mode & 0o777).toBe(0o600);
  undo();
  expect(names(target)).toEqual(['', [], [], []]);
  expect(existsSync(`${target}.lock`)).toBe(false);
});

test('what others wrote stays, with its comments, and the context before is the current one again', () => {
  mergeKubeconfig(source, target)();
  const others =
    '# mine\nclusters:\n  - name: prod # careful\n    cluster: {server: "https://p"}\nusers: null\ncontexts: []\ncurrent-context: prod\n';
  writeFileSync(target, others);
  const undo = mergeKubeconfig(source, target);
  expect(names(target)).toEqual(['quorate', ['prod', 'quorate'], ['quorate'], ['quorate']]);
  undo();
  expect(names(target)).toEqual(['prod', ['prod'], [], []]);
  expect(readFileSync(target, 'utf8')).toContain('# careful');
});

test('a context chosen meanwhile stays chosen, and an entry left by a crash is replaced', () => {
  mergeKubeconfig(source, target);
  const undo = mergeKubeconfig(source, target);
  expect(names(target)).toEqual(['quorate', ['quorate'], ['quorate'], ['quorate']]);
  writeFileSync(target, readFileSync(target, 'utf8').replace('current-context: quorate', 'current-context: prod'));
  undo();
  expect(names(target)).toEqual(['prod', [], [], []]);
});

test('what is no kubeconfig, and a file that somebody else writes, are left alone', () => {
  mergeKubeconfig(source, target)();
  writeFileSync(target, 'just text\n');
  expect(() => mergeKubeconfig(source, target)).toThrow('it is not a kubeconfig');
  expect(readFileSync(target, 'utf8')).toBe('just text\n');
  writeFileSync(`${target}.lock`, '');
  expect(() => mergeKubeconfig(source, target)).toThrow('somebody else does');
});

test('userKubeconfig() is the file kubectl would write to', () => {
  expect(userKubeconfig({ HOME: '/h' })).toBe('/h/.kube/config');
  expect(userKubeconfig({ HOME: '/h', KUBECONFIG: `/none:${source}:/other` })).toBe(source);
  expect(userKubeconfig({ HOME: '/h', KUBECONFIG: '/none:/other' })).toBe('/other');
});
