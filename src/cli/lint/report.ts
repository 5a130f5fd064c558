import type { Finding } from '../../decisions/lint/index.ts';
import type { SourcePosition } from './manifests.ts';

/** A finding with the place where a person can mend it. */
export interface PlacedFinding {
  readonly finding: Finding;
  /** Undefined for objects of a cluster. */
  readonly place: SourcePosition | undefined;
}

export interface LintSummary {
  readonly findings: readonly PlacedFinding[];
  readonly objects: number;
  readonly silenced: number;
  /** `3 files`, or the cluster. */
  readonly source: string;
}

/** The findings as one JSON document. */
export function formatJson({ findings, objects, silenced }: LintSummary): string {
  const value = {
    objects,
    silenced,
    findings: findings.map(({ finding, place }) => ({
      rule: finding.rule,
      severity: finding.severity,
      message: finding.message,
      why: finding.why,
      fix: finding.fix,
      object: {
        apiVersion: finding.object.apiVersion,
        kind: finding.object.kind,
        namespace: finding.object.metadata.namespace,
        name: finding.object.metadata.name,
      },
      path: finding.path,
      ...(place && { file: place.file, line: place.line, column: place.column }),
    })),
  };
  return `${JSON.stringify(value, null, 2)}\n`;
}
