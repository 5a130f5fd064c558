export type FindingStatus = 'ok' | 'warn' | 'fail' | 'skip';

/** What one check found. `skip` means that the check does not apply here, or that nobody let us look. */
export interface Finding {
  readonly check: string;
  readonly status: FindingStatus;
  readonly what: string;
  /** What to do about it; absent where nothing need be done. */
  readonly fix?: string;
}

export const ok = (check: string, what: string): Finding => ({ check, status: 'ok', what });
export const skip = (check: string, what: string): Finding => ({ check, status: 'skip', what });
export const warn = (check: string, what: string, fix: string): Finding => ({ check, status: 'warn', what, fix });
export const fail = (check: string, what: string, fix: string): Finding => ({ check, status: 'fail', what, fix });

export interface Diagnosis {
  readonly server: string;
  readonly version: string;
  readonly namespace: string;
  readonly findings: readonly Finding[];
  readonly counts: Readonly<Record<FindingStatus, number>>;
}

export function countFindings(findings: readonly Finding[]): Record<FindingStatus, number> {
  const counts = { ok: 0, warn: 0, fail: 0, skip: 0 };
  for (const { status } of findings) counts[status] += 1;
  return counts;
}
