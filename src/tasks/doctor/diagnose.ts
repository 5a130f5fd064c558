import { checkBudgets, checkGroupVersions } from './budget-checks.ts';
import { checkDefinitions, checkGroups, checkOtherInstallations, checkVersion } from './cluster-checks.ts';
import type { ClusterFacts } from './facts.ts';
import { countFindings, type DoctorReport, type DoctorFinding } from './finding.ts';
import { gatherFacts, type DoctorOptions } from './gather.ts';
import { checkAccess, checkClocks, checkLeader, checkMode, checkReplicas } from './operator-checks.ts';
import { checkWebhooks } from './webhook-checks.ts';

/** Every check, in the order in which their failures explain one another. */
export function examine(facts: ClusterFacts): DoctorFinding[] {
  return [
    checkVersion(facts),
    checkGroups(facts),
    ...checkDefinitions(facts),
    ...checkOtherInstallations(facts),
    checkAccess(facts),
    checkReplicas(facts),
    checkLeader(facts),
    checkMode(facts),
    ...checkWebhooks(facts),
    ...checkBudgets(facts),
    ...checkGroupVersions(facts),
    ...checkClocks(facts),
  ];
}

export async function diagnose(options: DoctorOptions & { readonly server: string }): Promise<DoctorReport> {
  const facts = await gatherFacts(options);
  const findings = examine(facts);
  return {
    server: options.server,
    version: facts.version,
    namespace: options.namespace,
    findings,
    counts: countFindings(findings),
  };
}
