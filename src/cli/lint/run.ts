import { readFileSync } from 'node:fs';
import { QUORATE_VERSION } from '../../api/version.ts';
import { gatherClusterObjects, lintCluster, lintManifests } from '../../tasks/index.ts';
import { findRule, isAtLeast, type LintOptions, type Severity } from '../../decisions/lint/index.ts';
import { failWith } from '../shared/fail.ts';
import { openCluster } from '../shared/cluster.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { formatJson, type LintSummary } from './report.ts';
import { formatSarif } from './sarif.ts';
import { formatLint, formatRule, formatRules } from './text.ts';
import { ManifestError, readManifests } from './manifests.ts';
import { paintFor } from '../shared/terminal.ts';
import { complain } from '../shared/complain.ts';

export interface LintFlags extends ClusterFlags {
  readonly output: 'text' | 'json' | 'sarif';
  readonly failOn: Severity | 'none';
  readonly disable?: readonly string[];
  readonly explain?: string;
  readonly rules?: boolean;
}

const FOUND = 1;
const BAD_INPUT = 2;

export async function runLint(files: readonly string[], flags: LintFlags): Promise<number> {
  try {
    const paint = paintFor(process.stdout);
    if (flags.rules) {
      process.stdout.write(formatRules(paint));
      return 0;
    }
    if (flags.explain !== undefined) {
      process.stdout.write(formatRule(ruleNamed(flags.explain), paint));
      return 0;
    }
    const options = { disabled: new Set((flags.disable ?? []).map((name) => ruleNamed(name).name)) };
    const summary = files.length > 0 ? lintFiles(files, flags, options) : await lintTheCluster(flags, options);
    process.stdout.write(print(summary, flags.output));
    const { failOn } = flags;
    const failing = summary.findings.some(({ finding }) => failOn !== 'none' && isAtLeast(finding.severity, failOn));
    return failing ? FOUND : 0;
  } catch (error) {
    if (!(error instanceof ManifestError)) return failWith('lint', error, BAD_INPUT);
    for (const line of error.lines) complain(`quorate lint: ${line}`);
    return BAD_INPUT;
  }

  function print(summary: LintSummary, output: LintFlags['output']): string {
    if (output === 'json') return formatJson(summary);
    if (output === 'sarif') return formatSarif(summary, { version: QUORATE_VERSION, folder: process.cwd() });
    return formatLint(summary, paintFor(process.stdout));
  }
}

function lintFiles(files: readonly string[], { namespace = 'default' }: LintFlags, options: LintOptions): LintSummary {
  const manifests = readManifests(files, { namespace, stdin: () => readFileSync(0, 'utf8') });
  const { findings, silenced } = lintManifests(manifests.objects, options);
  const placed = findings.map((finding) => ({ finding, place: manifests.placeOf(finding.object, finding.path) }));
  return {
    findings: placed,
    objects: manifests.objects.length,
    silenced,
    source: `${manifests.files} file${manifests.files === 1 ? '' : 's'}`,
  };
}

async function lintTheCluster(flags: LintFlags, options: LintOptions): Promise<LintSummary> {
  const cluster = openCluster(flags);
  try {
    const objects = await gatherClusterObjects(cluster.client, flags.namespace);
    const { findings, silenced } = lintCluster(objects, options);
    const source = flags.namespace === undefined ? 'the cluster' : `namespace ${flags.namespace}`;
    const placed = findings.map((finding) => ({ finding, place: undefined }));
    return { findings: placed, objects: objects.length, silenced, source };
  } finally {
    cluster.close();
  }
}

function ruleNamed(name: string) {
  const rule = findRule(name);
  if (rule === undefined) throw new Error(`there is no rule "${name}"; quorate lint --rules lists them`);
  return rule;
}
