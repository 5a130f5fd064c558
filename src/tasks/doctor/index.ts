/** Checks an installation of the operator: reads the cluster's facts, then every check judges them. */
export { diagnose } from './diagnose.ts';
export type { DoctorReport, FindingStatus } from './finding.ts';
