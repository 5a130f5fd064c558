/** Findings as SARIF 2.1.0, which code-review tools show beside the lines of a change. */
import { isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nameOf, RULES, type Severity } from '../../decisions/lint/index.ts';
import type { LintSummary, PlacedFinding } from './report.ts';

const LEVELS: Readonly<Record<Severity, 'note' | 'warning' | 'error'>> = {
  info: 'note',
  warning: 'warning',
  error: 'error',
};

export interface SarifOptions {
  readonly version: string;
  /** Files below it are named relative to it, as review tools need them. */
  readonly folder: string;
}

export function formatSarif({ findings }: LintSummary, { folder, version }: SarifOptions): string {
  const rules = RULES.map(({ details, fix, name, severity, what, why }) => ({
    id: name,
    shortDescription: { text: `${what}.` },
    fullDescription: { text: `${what}. ${why}` },
    help: { text: `${why}\n\n${fix}\n\n${details}` },
    defaultConfiguration: { level: LEVELS[severity] },
  }));
  const log = {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'quorate', semanticVersion: version, rules } },
        columnKind: 'utf16CodeUnits',
        results: findings.map((one) => resultOf(one, folder)),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function resultOf({ finding, place }: PlacedFinding, folder: string) {
  const { fix, message, object, path, rule, severity, why } = finding;
  const name = [nameOf(object), path].filter((part) => part !== '').join(', ');
  return {
    ruleId: rule,
    ruleIndex: RULES.findIndex((one) => one.name === rule),
    level: LEVELS[severity],
    message: { text: `${nameOf(object)}: ${message}. ${why} ${fix}` },
    locations: [
      {
        ...(place &&
          place.file !== '<stdin>' && {
            physicalLocation: {
              artifactLocation: { uri: uriOf(place.file, folder) },
              region: { startLine: place.line, startColumn: place.column },
            },
          }),
        logicalLocations: [{ fullyQualifiedName: name, kind: 'resource' }],
      },
    ],
    // The same finding keeps its print when lines move.
    partialFingerprints: { 'quorateFinding/v1': `${rule}|${name}` },
  };
}

function uriOf(file: string, folder: string): string {
  const path = isAbsolute(file) ? relative(folder, file) : file;
  if (path.startsWith('..')) return pathToFileURL(file).href;
  return path
    .split(sep)
    .map(encodeURIComponent)
    .join('/')
    .replace(/^(\.\/)+/, '');
}
