import { checkDefinitions, checkGroups, checkOtherInstallations, checkVersion } from './cluster-checks.ts';
import type { ClusterFacts } from './facts.ts';
import { countFindings, type Diagnosis, type Finding } from './finding.ts';
import { gatherFacts, type GatherOptions } from './gather.ts';
import { checkAccess, checkClocks, checkLeader, checkMode, checkReplicas } from './operator-checks.ts';
import { checkWebhooks } from './webhook-checks.ts';

/** Every check, in the order in which their failures explain one another. */
export function examine(facts: ClusterFacts): Finding[] {
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
    ...checkClocks(facts),
  ];
}

export async function diagnose(options: GatherOptions & { readonly server: string }): Promise<Diagnosis> {
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
