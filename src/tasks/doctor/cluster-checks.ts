import { REPLACES_BUILT_IN } from '../../api/crds/index.ts';
import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { evictionRequestType } from '../../api/lifecycle/index.ts';
import { qualifiedResource } from '../../api/resource.ts';
import { definitions, labels } from '../../webhook/index.ts';
import { isObject } from '../../machinery/values/index.ts';
import type { ClusterFacts } from './facts.ts';
import { QUORATE_VERSION } from '../../api/version.ts';
import { VERSION_ANNOTATION } from '../../app/operator/lease.ts';
import { cannotTell, fail, type DoctorFinding, ok, skip, warn } from './finding.ts';

const TESTED = ['1.36', '1.37'];
/** Older API servers lack field selectors for custom resources, match conditions and the like that we never tried. */
const OLDEST_MINOR = 30;

export function checkVersion({ embedded, version }: ClusterFacts): DoctorFinding {
  const check = 'version';
  if (embedded) return ok(check, `Quorate's own API server, ${version}`);
  const found = /^v?1\.(\d+)/.exec(version);
  const minor = Number(found?.[1] ?? Number.NaN);
  if (TESTED.includes(`1.${minor}`)) return ok(check, `Kubernetes ${version}, which Quorate is tested on`);
  const what = `Kubernetes ${version}; Quorate is tested on ${TESTED.join(' and ')}`;
  return minor < OLDEST_MINOR
    ? fail(check, what, `use Kubernetes 1.${OLDEST_MINOR} or newer`)
    : warn(check, what, 'try it on a cluster where a wrong answer costs nothing first');
}

/** Groups come from Workload and PodGroup objects where the cluster has them. */
export function checkGroups({ embedded, gates, schedulingKinds }: ClusterFacts): DoctorFinding {
  const check = 'groups';
  const served = ['Workload', 'PodGroup'].map((kind) => ({ kind, versions: schedulingKinds.get(kind) ?? [] }));
  const missing = served.filter(({ versions }) => versions.length === 0).map(({ kind }) => kind);
  const known = served
    .filter(({ versions }) => versions.length > 0)
    .map(({ kind, versions }) => `${kind} (${versions.join(', ')})`);
  const gate = gates.value?.get('GenericWorkload');
  if (missing.length === 0) {
    if (gate === false) {
      return warn(
        check,
        `${known.join(' and ')} are served, but the feature gate GenericWorkload is off: pods lose the field that names their group`,
        'start kube-apiserver and kube-scheduler with --feature-gates=GenericWorkload=true',
      );
    }
    return ok(check, `the cluster serves ${known.join(' and ')}`);
  }
  const what = `the cluster does not serve ${missing.join(' and ')} of scheduling.k8s.io`;
  if (embedded) return fail(check, what, 'start quorate up without --feature-gates that switch them off');
  return warn(
    check,
    `${what}; budgets count groups only by labels and annotations, and PodUnavailableBudgets by podGroupPolicy`,
    'start kube-apiserver with --feature-gates=GenericWorkload=true and --runtime-config=scheduling.k8s.io/v1alpha2=true, if PodGroups are to be counted',
  );
}

export function checkDefinitions(facts: ClusterFacts): DoctorFinding[] {
  const check = 'definitions';
  const { hidden, value: installed = [] } = facts.definitions;
  if (facts.embedded) return [ok(check, 'built in'), ...replacing(installed)];
  if (hidden !== undefined) return [cannotTell(check, hidden)];
  // Those that stand in for kinds of Kubernetes are looked at where they are there, and ours.
  const isOurs = ({ metadata }: CustomResourceDefinition): boolean =>
    metadata.name === qualifiedResource(evictionRequestType) &&
    metadata.labels?.['app.kubernetes.io/managed-by'] === labels['app.kubernetes.io/managed-by'];
  return definitions('native', installed.some(isOurs) ? 'crd' : 'native').map((wanted) => {
    const name = wanted.metadata.name ?? '';
    const found = installed.find(({ metadata }) => metadata.name === name);
    const fix = 'apply the definitions again: quorate install | kubectl apply -f -';
    if (found === undefined) return fail(check, `${name} is not installed`, fix);
    const established = found.status?.conditions?.find(({ type }) => type === 'Established');
    if (established?.status !== 'True') {
      return fail(check, `${name} is not served: ${established?.message ?? 'not established'}`, fix);
    }
    const path = firstDifference(found.spec, wanted.spec, 'spec');
    if (path === undefined) return ok(check, `${name} is installed and as this version wants it`);
    // Replicas of this version rely on what this version defines.
    const isLeading = facts.lease.value?.metadata.annotations?.[VERSION_ANNOTATION] === QUORATE_VERSION;
    return (isLeading ? fail : warn)(check, `${name} is that of another version: ${path} differs`, fix);
  });
}

/** What is no longer ours on the embedded host, because other software has brought its own. */
function replacing(installed: readonly CustomResourceDefinition[]): DoctorFinding[] {
  return installed.flatMap(({ metadata, status }) => {
    const said = status?.conditions?.find(({ status: is, type }) => type === REPLACES_BUILT_IN && is === 'True');
    const fix = "if Quorate's own shall come back, delete the definition; its objects go with it";
    return said === undefined ? [] : [warn('definitions', `${metadata.name}: ${said.message ?? ''}`, fix)];
  });
}

/** The path of the first value of `wanted` that is not in `actual`; what the server adds by default is no difference. */
export function firstDifference(actual: unknown, wanted: unknown, path: string): string | undefined {
  if (wanted === undefined) return undefined;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual) || actual.length !== wanted.length) return path;
    return firstOf(wanted.map((item, at) => firstDifference(actual[at], item, `${path}[${at}]`)));
  }
  if (isObject(wanted)) {
    if (!isObject(actual)) return path;
    return firstOf(Object.entries(wanted).map(([key, item]) => firstDifference(actual[key], item, `${path}.${key}`)));
  }
  return actual === wanted ? undefined : path;
}

const firstOf = (paths: readonly (string | undefined)[]): string | undefined =>
  paths.find((path) => path !== undefined);

/** OpenKruise brings PodUnavailableBudgets too; two keepers of one budget charge it twice. */
export function checkOtherInstallations(facts: ClusterFacts): DoctorFinding[] {
  const check = 'other installations';
  if (facts.embedded) return [skip(check, 'the embedded API server guards budgets itself')];
  const findings: DoctorFinding[] = [];
  const kruise = (facts.definitions.value ?? []).filter(({ spec }) => spec?.group?.endsWith('kruise.io') === true);
  const foreign = kruise.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] !== 'quorate');
  const guards = (facts.webhooks.value ?? []).filter(
    ({ metadata, webhooks = [] }) =>
      metadata.labels?.['app.kubernetes.io/name'] !== 'quorate' &&
      webhooks.some(
        ({ name, rules = [] }) =>
          /kruise/.test(`${metadata.name} ${name}`) &&
          rules.some(({ resources = [] }) => resources.some((one) => one === 'pods' || one === 'pods/eviction')),
      ),
  );
  for (const { metadata } of guards) {
    findings.push(
      fail(
        check,
        `the webhooks "${metadata.name}" of OpenKruise guard pods too, so PodUnavailableBudgets are charged twice`,
        'switch the PodUnavailableBudget gates of kruise-manager off, or uninstall Quorate',
      ),
    );
  }
  if (foreign.some(({ metadata }) => metadata.name === 'podunavailablebudgets.policy.kruise.io')) {
    findings.push(
      warn(
        check,
        'podunavailablebudgets.policy.kruise.io was installed by somebody else, and may lack podGroupPolicy',
        'let one of the two own it: quorate install | kubectl apply -f - takes it over',
      ),
    );
  }
  if (findings.length === 0) {
    const hidden = facts.webhooks.hidden ?? facts.definitions.hidden;
    findings.push(
      hidden === undefined ? ok(check, 'nobody else keeps PodUnavailableBudgets here') : cannotTell(check, hidden),
    );
  }
  return [...findings, ...otherOperators(facts)];
}

function otherOperators({ namespace, otherLeases }: ClusterFacts): DoctorFinding[] {
  return otherLeases.map(({ metadata }) =>
    fail(
      'other installations',
      `another Quorate leads in namespace "${metadata.namespace}"`,
      `keep one: quorate uninstall --namespace ${metadata.namespace}, or --namespace ${namespace}`,
    ),
  );
}
