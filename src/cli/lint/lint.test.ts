import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lintManifests } from '../../tasks/index.ts';
import { RULES } from '../../decisions/lint/index.ts';
import { formatJson, type LintSummary } from './report.ts';
import { formatSarif } from './sarif.ts';
import { formatLint, formatRule, formatRules } from './text.ts';
import { ManifestError, readManifests, stepsOf } from './manifests.ts';
import { fit, paintFor, wrap } from '../shared/terminal.ts';

const MANIFEST = `# A comment that moves everything down.
apiVersion: v1
kind: List
items:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: { name: web }
    spec:
      replicas: 2
      template:
        metadata: { labels: { app: web } }
        spec: { containers: [{ name: c, image: i }] }
  - apiVersion: policy/v1
    kind: PodDisruptionBudget
    metadata: { name: web }
    spec:
      selector: &match { matchLabels: { app: web } }
      unhealthyPodEvictionPolicy: AlwaysAllow
      minAvailable: 2
---
just: a note
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: again
  annotations:
    policy.quorate.dev/budget-scope: Groups
spec: { selector: { matchLabels: { app: web } }, maxUnavailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow }
`;

let folder: string;
const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const read = (names: readonly string[], stdin = () => '') => readManifests(names, { namespace: 'default', stdin });

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-lint-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function summaryOf(names: readonly string[], stdin?: () => string): LintSummary {
  const manifests = read(names, stdin);
  const { findings, silenced } = lintManifests(manifests.objects);
  const placed = findings.map((finding) => ({ finding, place: manifests.placeOf(finding.object, finding.path) }));
  return { findings: placed, objects: manifests.objects.length, silenced, source: '1 file' };
}

test('findings know file, line and column, in Lists and after other documents', () => {
  const file = write('web.yaml', MANIFEST);
  const places = summaryOf([file]).findings.map(
    ({ finding, place }) => `${finding.rule} ${place?.line}:${place?.column}`,
  );
  expect(places).toEqual(['never-allows-drain 19:7', 'overlapping-budgets 17:7', 'unreadable-annotation 28:5']);
});

test('a field that is not written out is placed at what is around it', () => {
  const text = 'kind: PodDisruptionBudget\napiVersion: policy/v1\nmetadata: { name: a }\nspec:\n  minAvailable: 1\n';
  const manifests = read(['-'], () => text);
  const [object] = manifests.objects;
  expect(manifests.placeOf(object as never, 'spec.selector')).toEqual({ file: '<stdin>', line: 4, column: 1 });
  expect(manifests.placeOf(object as never, '')).toEqual({ file: '<stdin>', line: 1, column: 1 });
});

test('folders are searched, and what is no manifest in them is passed over', () => {
  mkdirSync(join(folder, 'deploy', 'node_modules'), { recursive: true });
  write(join('deploy', 'a.yml'), 'kind: Pod\napiVersion: v1\nmetadata: { name: a }\n');
  write(join('deploy', 'b.json'), '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}');
  write(join('deploy', 'notes.txt'), '{{');
  write(join('deploy', 'node_modules', 'c.yaml'), '{{');
  expect(read([join(folder, 'deploy')]).objects.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
});

const unreadable = [
  { name: 'a bad indent', text: 'a:\n  b: 1\n c: 2\n', at: '3:1' },
  { name: 'an open quote', text: 'kind: "Pod\n', at: '2:1' },
  { name: 'a repeated key', text: 'kind: Pod\nkind: Pod\n', at: '2:1' },
  { name: 'a tab', text: 'a:\n\tb: 1\n', at: '2:1' },
];
for (const { at, name, text } of unreadable) {
  test(`${name} is one line with file, line and column`, () => {
    const file = write('bad.yaml', text);
    const lines = linesOf(() => read([file]));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`bad\\.yaml:${at}: [^\\n]+$`));
  });
}

test('a template is recognized, and a missing file and an empty folder are named', () => {
  mkdirSync(join(folder, 'empty'), { recursive: true });
  const file = write('chart.yaml', 'metadata:\n  name: {{ .Values.name }}\n');
  const lines = linesOf(() => read([file, join(folder, 'gone.yaml'), join(folder, 'empty')]));
  expect(lines.map((line) => line.replace(folder, ''))).toEqual([
    '/gone.yaml: no such file or folder',
    '/empty: no .yaml, .yml or .json file in this folder',
    expect.stringMatching(/^\/chart\.yaml:2:\d+: .*render it first\)$/),
  ]);
});

test('aliases that unfold without end are refused', () => {
  const bomb = [
    'a: &a [x, x, x, x, x, x, x, x, x]',
    ...'bcdefgh'.split('').map((name, at) => {
      const previous = 'abcdefgh'[at];
      return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${previous}`).join(', ')}]`;
    }),
  ].join('\n');
  expect(linesOf(() => read(['-'], () => bomb))).toEqual([expect.stringMatching(/alias/i)]);
});

test('text is at most 80 wide, and coloured only where asked', () => {
  const summary = summaryOf([write('web.yaml', MANIFEST)]);
  const text = formatLint(summary);
  const prose = text.split('\n').filter((line) => !line.includes(folder));
  expect(Math.max(...prose.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(text).not.toContain('\u001b');
  expect(text.trimEnd().split('\n').at(-1)).toBe('3 errors: 3 objects in 1 file.');
  expect(formatLint(summary, paintFor({ isTTY: true }, {}))).toContain('\u001b[31merror\u001b[39m');
});

test('rules and their explanations are at most 80 wide', () => {
  const texts = [formatRules(), ...RULES.map((rule) => formatRule(rule))];
  // A name that cannot be broken may stick out; none does today.
  for (const text of texts) for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
});

test('colour is for terminals whose owner has not said no', () => {
  const isColoured = (isTTY: boolean, env: Record<string, string>): boolean =>
    paintFor({ isTTY }, env)('red', 'x') !== 'x';
  expect(isColoured(true, {})).toBe(true);
  expect(isColoured(false, {})).toBe(false);
  expect(isColoured(true, { NO_COLOR: '1' })).toBe(false);
  expect(isColoured(true, { NO_COLOR: '' })).toBe(true);
  expect(isColoured(true, { TERM: 'dumb' })).toBe(false);
});

test('JSON carries everything a program needs', () => {
  const { findings } = JSON.parse(formatJson(summaryOf([write('web.yaml', MANIFEST)]))) as { findings: object[] };
  expect(findings[0]).toEqual({
    rule: 'never-allows-drain',
    severity: 'error',
    message: 'minAvailable 2 keeps 2 of 2 pods up, so none may ever go',
    why: expect.any(String),
    fix: expect.stringContaining('at most 1'),
    object: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace: 'default', name: 'web' },
    path: 'spec.minAvailable',
    file: join(folder, 'web.yaml'),
    line: 19,
    column: 7,
  });
});

test('SARIF has the shape that 2.1.0 asks for', () => {
  const summary = summaryOf([write('web.yaml', MANIFEST)]);
  const log = JSON.parse(formatSarif(summary, { version: '1.2.3', folder })) as SarifLog;
  expect(log.version).toBe('2.1.0');
  expect(log.$schema).toMatch(/sarif-schema-2\.1\.0\.json$/);
  const [run] = log.runs;
  const driver = run?.tool.driver;
  expect(driver).toMatchObject({ name: 'quorate', semanticVersion: '1.2.3' });
  expect(new Set(driver?.rules.map(({ id }) => id)).size).toBe(RULES.length);
  for (const rule of driver?.rules ?? []) {
    expect(['none', 'note', 'warning', 'error']).toContain(rule.defaultConfiguration.level);
    for (const text of [rule.shortDescription, rule.fullDescription, rule.help]) expect(text.text).not.toBe('');
  }
  expect(run?.results).toHaveLength(3);
  for (const result of run?.results ?? []) {
    expect(driver?.rules[result.ruleIndex]?.id).toBe(result.ruleId);
    expect(['none', 'note', 'warning', 'error']).toContain(result.level);
    expect(result.message.text).not.toBe('');
    for (const value of Object.values(result.partialFingerprints)) expect(typeof value).toBe('string');
    const { artifactLocation, region } = result.locations[0]?.physicalLocation ?? {};
    expect(artifactLocation?.uri).toBe('web.yaml');
    expect(region?.startLine).toBeGreaterThan(1);
    expect(region?.startColumn).toBeGreaterThan(0);
  }
});

test('SARIF names no file for standard input or a cluster', () => {
  const log = JSON.parse(
    formatSarif(
      summaryOf(['-'], () => MANIFEST),
      { version: '1', folder },
    ),
  ) as SarifLog;
  expect(log.runs[0]?.results[0]?.locations[0]).not.toHaveProperty('physicalLocation');
});

test('stepsOf() splits the paths that Kubernetes prints', () => {
  expect(stepsOf('spec.a[0].b')).toEqual(['spec', 'a', '0', 'b']);
  expect(stepsOf('metadata.annotations[policy.quorate.dev/group-by]')).toEqual([
    'metadata',
    'annotations',
    'policy.quorate.dev/group-by',
  ]);
  expect(stepsOf('')).toEqual([]);
});

test('fit() folds for a terminal and for nobody else', () => {
  const long = `  ${'word '.repeat(20).trim()}`;
  expect(fit([long], {})).toEqual([long]);
  const folded = fit([long, 'short'], { isTTY: true, columns: 80 });
  expect(folded.map((line) => line.length <= 80)).toEqual([true, true, true]);
  expect(folded[1]).toMatch(/^ {4}word/);
  expect(folded.join(' ').replaceAll(/ +/g, ' ')).toBe(`${long} short`.replaceAll(/ +/g, ' '));
});

test('wrap() breaks at spaces only', () => {
  expect(wrap('aa bb cc', { width: 5, indent: ' ' })).toEqual([' aa', ' bb', ' cc']);
  expect(wrap('aaaaaaaaaa b', { width: 5 })).toEqual(['aaaaaaaaaa', 'b']);
  expect(wrap('')).toEqual([]);
});

interface SarifLog {
  $schema: string;
  version: string;
  runs: {
    tool: {
      driver: {
        rules: {
          id: string;
          shortDescription: { text: string };
          fullDescription: { text: string };
          help: { text: string };
          defaultConfiguration: { level: string };
        }[];
      };
    };
    results: {
      ruleId: string;
      ruleIndex: number;
      level: string;
      message: { text: string };
      partialFingerprints: Record<string, string>;
      locations: {
        physicalLocation?: {
          artifactLocation: { uri: string };
          region: { startLine: number; startColumn: number };
        };
      }[];
    }[];
  }[];
}

function linesOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ManifestError) return error.lines;
    throw error;
  }
  return [];
}

test('a file that is named and holds no object is refused; in a folder it may stand beside manifests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-lint-'));
  const text = join(folder, 'text.yaml');
  writeFileSync(text, 'just some text\n');
  const none = 'no Kubernetes object in it: nothing has apiVersion and kind';
  expect(() => read([text])).toThrow(`${text}: ${none}`);
  expect(() => read(['-'], () => '')).toThrow(`<stdin>: ${none}`);
  expect(() => read([folder])).toThrow(`${folder}: no Kubernetes object in any file`);
  writeFileSync(join(folder, 'map.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n');
  expect(read([folder]).objects).toHaveLength(1);
  rmSync(folder, { recursive: true });
});
