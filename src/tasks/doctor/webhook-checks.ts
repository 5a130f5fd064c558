import { X509Certificate } from 'node:crypto';
import type {
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../api/generated/admissionregistration-v1.ts';
import { renewAt } from '../../machinery/runtime/certificates.ts';
import {
  ARMED_ANNOTATION,
  EVICTIONS_CONFIGURATION,
  LINK_CONFIGURATION,
  splitToken,
  STATUS_CONFIGURATION,
  WEBHOOK_CONFIGURATION,
  webhookConfigurations,
} from '../../webhook/index.ts';
import { REVIEWS_ANNOTATION } from '../../app/operator/lease.ts';
import type { ClusterFacts } from './facts.ts';
import { firstDifference } from './cluster-checks.ts';
import { cannotTell, fail, type DoctorFinding, ok, skip, warn } from './finding.ts';

const REINSTALL = 'apply the manifests again: quorate install | kubectl apply -f -';
const LOGS = 'look at the operator: kubectl logs -l app.kubernetes.io/name=quorate -n ';
const DAY_MS = 86_400_000;
const SOON_DAYS = 7;

/** Those that refuse; the others may be passed by without harm. */
const GUARDS = new Set(['evictions.quorate.dev', 'pods.quorate.dev', 'groups.quorate.dev']);

export function checkWebhooks(facts: ClusterFacts): DoctorFinding[] {
  if (facts.embedded) return [skip('webhooks', 'the embedded API server needs none')];
  if (facts.webhooks.hidden !== undefined) return [cannotTell('webhooks', facts.webhooks.hidden)];
  const named = (wanted: string): ValidatingWebhookConfiguration | undefined =>
    facts.webhooks.value?.find(({ metadata }) => metadata.name === wanted);
  const [evictions, others] = [named(EVICTIONS_CONFIGURATION), named(WEBHOOK_CONFIGURATION)];
  if (evictions === undefined || others === undefined) {
    const what = evictions === others ? 'anything' : evictions === undefined ? 'evictions' : 'anything but evictions';
    return [fail('webhooks', `the API server does not ask Quorate about ${what}`, REINSTALL)];
  }
  const status = facts.mode === 'adopt' ? named(STATUS_CONFIGURATION) : undefined;
  if (facts.mode === 'adopt' && status === undefined) {
    return [fail('webhooks', 'the API server does not ask Quorate about the status of budgets', REINSTALL)];
  }
  const all = [evictions, others, status, named(LINK_CONFIGURATION)].filter((one) => one !== undefined);
  const ours = { ...others, webhooks: all.flatMap(({ webhooks = [] }) => webhooks) };
  return [
    checkPolicy(ours),
    ...checkFilled(facts, all),
    ...checkStated(facts, ours),
    checkCallers(facts, ours),
    ...checkEndpoint(facts, ours),
    checkReach(facts),
    ...checkTrust(facts, ours),
    checkAge(facts),
  ];
}

/** A leader fills what was installed empty within seconds; where none leads that is what is wrong. */
function checkFilled(
  { lease, namespace }: ClusterFacts,
  all: readonly ValidatingWebhookConfiguration[],
): DoctorFinding[] {
  if (!lease.value?.spec?.holderIdentity) return [];
  const empty = all.filter(
    ({ metadata, webhooks = [] }) => webhooks.length === 0 && metadata.annotations?.[ARMED_ANNOTATION] === undefined,
  );
  if (empty.length === 0) return [];
  const what = `the leader has not filled ${empty.map(({ metadata }) => metadata.name).join(', ')}`;
  return [fail('webhooks', what, `its log says what it waits for: ${LOGS}${namespace}`)];
}

/** Rules and conditions are this version's, or something is asked that need not be, or is not that must. */
function checkStated(
  { mode = 'adopt', namespace }: ClusterFacts,
  { webhooks = [] }: ValidatingWebhookConfiguration,
): DoctorFinding[] {
  const wanted = webhookConfigurations({
    namespace,
    failOpen: false,
    certManager: false,
    groups: 'crd',
    requestKinds: 'crd',
    groupCreation: true,
    mode,
  })
    .flatMap((one) => one.webhooks ?? [])
    .map(comparable);
  return webhooks.flatMap((one): DoctorFinding[] => {
    const want = wanted.find(({ name }) => name === one.name);
    if (want === undefined) return [];
    const found = comparable(one);
    const path = ['rules', 'matchConditions'].find(
      (part) => firstDifference(found[part as 'rules'], want[part as 'rules'], part) !== undefined,
    );
    if (path !== undefined) {
      return [
        fail(
          'webhooks',
          `${one.name}: ${path} are not those of this version`,
          'the leader puts them right; see that one leads',
        ),
      ];
    }
    return one.timeoutSeconds === want.timeoutSeconds
      ? []
      : [
          warn(
            'webhooks',
            `${one.name}: timeoutSeconds is ${one.timeoutSeconds}, not ${want.timeoutSeconds}`,
            REINSTALL,
          ),
        ];
  });
}

/** What is the same in every installation of a version. */
function comparable({ matchConditions, name, rules, timeoutSeconds }: ValidatingWebhook) {
  return {
    name,
    timeoutSeconds,
    // Updates are asked about with a feature gate only.
    rules: name === 'pods.quorate.dev' ? [] : (rules ?? []),
    matchConditions: (matchConditions ?? []).filter((one) => one.name !== 'not-our-own'),
  };
}

function checkEndpoint({ endpoint }: ClusterFacts, { webhooks = [] }: ValidatingWebhookConfiguration): DoctorFinding[] {
  const check = 'webhook service';
  if (!webhooks.some(({ clientConfig }) => clientConfig?.service !== undefined)) return [];
  if (endpoint.hidden !== undefined) return [cannotTell(check, endpoint.hidden)];
  return endpoint.value === undefined
    ? [ok(check, 'a replica is ready behind the Service')]
    : [
        fail(
          check,
          `${endpoint.value}: what must be asked about is refused`,
          'see why no replica is ready: kubectl get pods -l app.kubernetes.io/name=quorate -A',
        ),
      ];
}

function checkPolicy({ webhooks = [] }: ValidatingWebhookConfiguration): DoctorFinding {
  const open = webhooks
    .filter(({ failurePolicy, name }) => GUARDS.has(name) && failurePolicy === 'Ignore')
    .map(({ name }) => name);
  return open.length === 0
    ? ok('webhooks', `${webhooks.length} are registered; what cannot be asked about is refused`)
    : warn(
        'webhooks',
        `requests pass ${open.join(', ')} when no replica answers`,
        'install without --fail-open, if a missing answer must not be a grant',
      );
}

/** Whoever reaches the webhook could otherwise charge budgets with reviews of his own. */
function checkCallers(
  { lease, namespace }: ClusterFacts,
  { webhooks = [] }: ValidatingWebhookConfiguration,
): DoctorFinding {
  const check = 'webhook callers';
  if (lease.value?.metadata.annotations?.[REVIEWS_ANNOTATION] === 'Certificate') {
    return ok(check, 'reviews are believed by the certificate of who asks');
  }
  const open = webhooks.filter(({ clientConfig }) => {
    const path = clientConfig?.service?.path ?? (clientConfig?.url ? new URL(clientConfig.url).pathname : '');
    return splitToken(path).token === undefined;
  });
  if (open.length === 0) return ok(check, 'reviews are believed by the secret in their path');
  return fail(
    check,
    `reviews are not authenticated: no secret in the path of ${open.map(({ name }) => name).join(', ')}`,
    `the operator fills it in when it runs: ${LOGS}${namespace}`,
  );
}

function checkReach({ namespace, trial }: ClusterFacts): DoctorFinding {
  const check = 'webhook reachability';
  switch (trial.outcome) {
    case 'Refused':
      return ok(check, 'the API server reaches a replica, and it refuses a budget that makes no sense');
    case 'Passed':
      return fail(
        check,
        'a budget that makes no sense passed: the API server asked nobody, or got no answer and let it pass',
        LOGS + namespace,
      );
    case 'Unreachable':
      return fail(check, `the API server cannot ask a replica: ${trial.message}`, LOGS + namespace);
    case 'Unknown':
      return cannotTell(check, trial.message);
  }
}

/** Every bundle must vouch for the certificate that the replicas serve with. */
function checkTrust(facts: ClusterFacts, { webhooks = [] }: ValidatingWebhookConfiguration): DoctorFinding[] {
  const check = 'certificate authority';
  const findings: DoctorFinding[] = [];
  const without = webhooks.filter(({ clientConfig }) => !clientConfig?.caBundle).map(({ name }) => name);
  if (without.length > 0) {
    const fix = `the operator fills it in when it starts (cert-manager with --cert-manager): ${LOGS}${facts.namespace}`;
    findings.push(fail(check, `no caBundle in ${without.join(', ')}`, fix));
  }
  const serving = servingCertificates(facts);
  const bad = webhooks.filter(({ clientConfig }) => {
    const bundle = decode(clientConfig?.caBundle);
    const served = serving.filter(({ url }) => url === undefined || clientConfig?.url?.startsWith(url) === true);
    return bundle !== '' && served.some(({ pem }) => !vouchesFor(bundle, pem));
  });
  if (bad.length > 0) {
    const names = bad.map(({ name }) => name).join(', ');
    findings.push(
      fail(
        check,
        `the caBundle of ${names} does not vouch for the certificate in use`,
        'restart the operator, which fills it in again: kubectl rollout restart deployment/quorate',
      ),
    );
  }
  if (findings.length > 0) return findings;
  if (serving.length === 0 && facts.secret.hidden !== undefined) return [cannotTell(check, facts.secret.hidden)];
  return serving.length === 0
    ? [skip(check, 'no certificate to compare with: there is none in the cluster')]
    : [ok(check, 'the caBundle vouches for the certificate in use')];
}

function checkAge(facts: ClusterFacts): DoctorFinding {
  const check = 'certificate age';
  const failed = facts.presented.find(({ problem }) => problem !== undefined);
  if (failed !== undefined) {
    return fail(check, `no certificate from ${failed.url}: ${failed.problem}`, 'start the operator there');
  }
  const oldest = servingCertificates(facts)
    .map(({ pem }) => ({ pem, until: Date.parse(new X509Certificate(pem).validTo) }))
    .sort((a, b) => a.until - b.until)[0];
  if (oldest === undefined) {
    return facts.secret.hidden === undefined
      ? fail(check, 'there is no serving certificate', 'start the operator, which makes one')
      : cannotTell(check, facts.secret.hidden);
  }
  const days = Math.floor((oldest.until - facts.nowMs) / DAY_MS);
  const fix = 'restart the operator, which renews it: kubectl rollout restart deployment/quorate';
  if (days < 0) return fail(check, `the serving certificate expired ${-days} days ago`, fix);
  if (days < 1) return fail(check, 'the serving certificate ends within a day', fix);
  return days < SOON_DAYS || facts.nowMs >= renewAt(oldest.pem)
    ? warn(check, `the serving certificate ends in ${days} days and should have been renewed`, fix)
    : ok(check, `the serving certificate is good for ${days} more days`);
}

/** What is kept in the Secret serves the Service; what a URL presents serves that URL. */
function servingCertificates({ presented, secret }: ClusterFacts): { pem: string; url?: string }[] {
  const shown = presented.flatMap(({ certificate, url }) =>
    certificate === undefined ? [] : [{ pem: certificate, url }],
  );
  if (shown.length > 0) return shown;
  const pem = decode(secret.value?.data?.['tls.crt']);
  return isCertificate(pem) ? [{ pem }] : [];
}

const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString('utf8');

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).validTo !== '';
  } catch {
    return false;
  }
}

function vouchesFor(bundle: string, pem: string): boolean {
  const leaf = new X509Certificate(pem);
  const authorities = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return authorities.some((one) => {
    try {
      const authority = new X509Certificate(one);
      return leaf.verify(authority.publicKey) || leaf.fingerprint256 === authority.fingerprint256;
    } catch {
      return false;
    }
  });
}
