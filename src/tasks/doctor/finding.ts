export type FindingStatus = 'ok' | 'warn' | 'fail' | 'skip' | 'unknown';

/** What one check found. `skip`: the check does not apply here. `unknown`: nobody let us look, so nothing is decided. */
export interface DoctorFinding {
  readonly check: string;
  readonly status: FindingStatus;
  readonly what: string;
  /** What to do about it; absent where nothing need be done. */
  readonly fix?: string;
}

export const ok = (check: string, what: string): DoctorFinding => ({ check, status: 'ok', what });
export const skip = (check: string, what: string): DoctorFinding => ({ check, status: 'skip', what });
export const cannotTell = (check: string, why: string): DoctorFinding => ({
  check,
  status: 'unknown',
  what: `cannot tell: ${why}`,
});
export const warn = (check: string, what: string, fix: string): DoctorFinding => ({ check, status: 'warn', what, fix });
export const fail = (check: string, what: string, fix: string): DoctorFinding => ({ check, status: 'fail', what, fix });

export interface DoctorReport {
  readonly server: string;
  readonly version: string;
  readonly namespace: string;
  readonly findings: readonly DoctorFinding[];
  readonly counts: Readonly<Record<FindingStatus, number>>;
}

export function countFindings(findings: readonly DoctorFinding[]): Record<FindingStatus, number> {
  const counts = { ok: 0, warn: 0, fail: 0, skip: 0, unknown: 0 };
  for (const { status } of findings) counts[status] += 1;
  return counts;
}
