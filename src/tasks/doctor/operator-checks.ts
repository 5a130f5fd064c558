import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { QUORATE_VERSION } from '../../api/version.ts';
import { parseTime } from '../../machinery/values/index.ts';
import { VERSION_ANNOTATION } from '../../app/operator/lease.ts';
import type { ClusterFacts } from './facts.ts';
import { serverNowMs } from './server-time.ts';
import { cannotTell, fail, type DoctorFinding, ok, skip, warn } from './finding.ts';

const SKEW_WARN_MS = 5000;
/** A grant lives two minutes; clocks further apart than a quarter of that eat into it. */
const SKEW_FAIL_MS = 30_000;
const LOGS = 'kubectl logs -l app.kubernetes.io/name=quorate -n ';

export function checkReplicas(facts: ClusterFacts): DoctorFinding {
  const check = 'replicas';
  if (facts.embedded) return skip(check, 'the embedded host needs no operator');
  if (facts.deployment.hidden !== undefined) return cannotTell(check, facts.deployment.hidden);
  const { namespace } = facts;
  if (facts.deployment.value === undefined) {
    return skip(check, `no Deployment "quorate" in namespace "${namespace}"; the operator may run elsewhere`);
  }
  const { spec, status } = facts.deployment.value;
  const wanted = spec?.replicas ?? 1;
  const ready = status?.readyReplicas ?? 0;
  if (ready === 0) return fail(check, `none of ${wanted} replicas is ready`, LOGS + namespace);
  const stuck = status?.conditions?.find(({ reason }) => reason === 'ProgressDeadlineExceeded');
  if (stuck !== undefined) {
    return warn(check, `replicas of two versions run for long: ${stuck.message ?? ''}`, LOGS + namespace);
  }
  if (ready < wanted || wanted < 2) {
    return warn(check, `${ready} of ${wanted} replicas are ready`, 'run two, so that one can be replaced');
  }
  return ok(check, `${ready} of ${wanted} replicas are ready`);
}

export function checkLeader(facts: ClusterFacts): DoctorFinding {
  const check = 'leader';
  if (facts.embedded) return skip(check, 'the embedded host needs none');
  const { hidden, value: lease } = facts.lease;
  if (hidden !== undefined) return cannotTell(check, hidden);
  const fix = `ledgers are not kept until one leads: ${LOGS}${facts.namespace}`;
  if (lease === undefined) {
    return fail(check, `no operator has ever led in namespace "${facts.namespace}"`, fix);
  }
  const { holderIdentity, leaseDurationSeconds = 15, renewTime } = lease.spec ?? {};
  if (!holderIdentity) return fail(check, 'nobody holds the lease; the last leader gave it back', fix);
  // The server's moment of the last write where it tells; the holder's own clock may be wrong.
  const renewedMs = serverWriteMs(lease) ?? parseTime(renewTime) ?? 0;
  const ageSeconds = Math.max(0, Math.round((serverNowMs(facts) - renewedMs) / 1000));
  if (ageSeconds > leaseDurationSeconds + 2) {
    return fail(check, `"${holderIdentity}" has not renewed its lease for ${ageSeconds} s`, fix);
  }
  const version = lease.metadata.annotations?.[VERSION_ANNOTATION];
  if (version !== undefined && version !== QUORATE_VERSION) {
    return warn(
      check,
      `"${holderIdentity}" leads, with version ${version}; this program is ${QUORATE_VERSION}`,
      'upgrade the older of the two',
    );
  }
  return ok(check, `"${holderIdentity}" leads and renewed its lease ${ageSeconds} s ago`);
}

/** Whether the mode fits who writes the status of PodDisruptionBudgets. */
export function checkMode(facts: ClusterFacts): DoctorFinding {
  const check = 'mode';
  if (facts.embedded) return ok(check, 'embedded: evictions are decided, recorded and carried out in one transaction');
  const { installedMode, mode } = facts;
  if (facts.lease.hidden !== undefined || facts.budgets.hidden !== undefined) {
    return cannotTell(check, facts.lease.hidden ?? facts.budgets.hidden ?? '');
  }
  if (mode === undefined) return skip(check, 'no operator has said in which mode it runs');
  if (installedMode !== undefined && installedMode !== mode) {
    return fail(
      check,
      `the leader runs in mode ${mode}, and ${installedMode} is installed`,
      'wait until the rollout has ended: kubectl rollout status deployment/quorate -n ' + facts.namespace,
    );
  }
  const builtin = builtinCounts(facts);
  if (mode === 'replace') {
    if (builtin === true) {
      return fail(
        check,
        "replace, but Kubernetes' own disruption controller is running too: both write the status of budgets",
        'start kube-controller-manager with --controllers=*,-disruption-controller, or install with --mode adopt',
      );
    }
    return ok(check, 'replace: Quorate writes the status of all budgets');
  }
  if (builtin === false) {
    return fail(
      check,
      mode === 'adopt'
        ? "adopt, but Kubernetes' own disruption controller is not running: nobody counts budgets over pods"
        : "alongside, but Kubernetes' own disruption controller is not running: no eviction under a budget is ever granted",
      'install with --mode replace, or start kube-controller-manager with its disruption controller',
    );
  }
  const what = mode === 'adopt' ? 'adopt: budgets over groups have our numbers, beside' : 'alongside';
  return builtin === undefined
    ? ok(check, `${mode}; no budget tells yet whether Kubernetes' own disruption controller is running`)
    : ok(check, `${what} Kubernetes' own disruption controller, which is running`);
}

const STATUS_WAIT_MS = 60_000;

/**
 * Whether the built-in controller counts: it signs what it writes with its own name. Undefined when no budget tells,
 * because there is none or all are too new.
 */
function builtinCounts({ budgets, lease, ...facts }: ClusterFacts): boolean | undefined {
  const all = budgets.value ?? [];
  const writes = all.flatMap(({ metadata }) =>
    (metadata.managedFields ?? [])
      .filter(({ subresource }) => subresource === 'status')
      .map(({ manager = '', time }) => ({
        builtin: manager === 'kube-controller-manager',
        atMs: parseTime(time) ?? 0,
      })),
  );
  const leadingSince = parseTime(lease.value?.spec?.acquireTime) ?? Number.POSITIVE_INFINITY;
  const latest = writes.toSorted((a, b) => b.atMs - a.atMs)[0];
  if (latest?.builtin || writes.some(({ atMs, builtin }) => builtin && atMs > leadingSince)) return true;
  if (latest !== undefined) return false;
  const isOld = ({ metadata }: PodDisruptionBudget): boolean =>
    serverNowMs(facts) - (parseTime(metadata.creationTimestamp) ?? Number.POSITIVE_INFINITY) > STATUS_WAIT_MS;
  return all.some(isOld) ? false : undefined;
}

export function checkAccess(facts: ClusterFacts): DoctorFinding {
  const check = 'permissions';
  if (facts.embedded) return skip(check, 'the embedded host needs none');
  const { hidden, value: lacking } = facts.lacking;
  if (hidden !== undefined) return cannotTell(check, hidden);
  if (lacking === undefined) {
    return skip(check, `no service account "quorate" in namespace "${facts.namespace}"`);
  }
  if (lacking.length === 0) return ok(check, 'the operator may do all it needs');
  const shown = lacking.slice(0, 5).join(', ');
  const more = lacking.length > 5 ? `, and ${lacking.length - 5} more` : '';
  return fail(
    check,
    `the operator may not ${shown}${more}`,
    'apply the roles again: quorate install | kubectl apply -f -',
  );
}

/** Compares this machine, and the leader, with the API server. */
export function checkClocks(facts: ClusterFacts): DoctorFinding[] {
  const check = 'clocks';
  if (facts.serverTime === undefined) return [skip(check, 'the API server does not tell the time')];
  const { atMs, localMs, tookMs } = facts.serverTime;
  // The server's clock is told to the second, so half of it and half of the way are unknown.
  const here = judgeSkew('this machine', localMs - tookMs / 2 - (atMs + 500), 500 + tookMs / 2);
  const lease = facts.lease.value;
  const written = lease === undefined ? undefined : serverWriteMs(lease);
  const renewed = parseTime(lease?.spec?.renewTime);
  if (written === undefined || renewed === undefined) return [here];
  return [here, judgeSkew('the leading operator', renewed - (written + 500), 500)];
}

function judgeSkew(whose: string, skewMs: number, unknownMs: number): DoctorFinding {
  const check = 'clocks';
  const apartMs = Math.max(0, Math.abs(skewMs) - unknownMs);
  const seconds = Math.round(apartMs / 1000);
  const what = `the clock of ${whose} is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the API server's`;
  const fix = 'set the clocks by NTP';
  if (apartMs >= SKEW_FAIL_MS) return fail(check, what, fix);
  if (apartMs >= SKEW_WARN_MS) return warn(check, what, fix);
  return ok(check, `${whose} and the API server agree on the time`);
}

function serverWriteMs(lease: {
  metadata: { managedFields?: { time?: string | null | undefined }[] | undefined };
}): number | undefined {
  const times = (lease.metadata.managedFields ?? []).flatMap(({ time }) => parseTime(time) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}
