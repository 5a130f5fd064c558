/**
 * What each signer demands of a request, as the signers of kube-controller-manager do.
 * https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/apis/certificates/helpers.go
 */
import type { AlternativeNameType, CertificateRequest } from '../../../machinery/runtime/certificate-request.ts';
import { type ClientGrant, endOf } from '../../../machinery/runtime/certificates.ts';
import { SUPERUSERS } from '../rbac/authorizer.ts';

export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
export const KUBELET_CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';

const NODES_GROUP = 'system:nodes';
const NODE_PREFIX = 'system:node:';
const CLIENT_USAGES = ['client auth', 'digital signature', 'key encipherment'];

/** Why the signer will not sign; undefined when it will. */
type SignerCheck = (request: CertificateRequest, usages: readonly string[]) => string | undefined;

const SIGNERS: Readonly<Record<string, SignerCheck>> = {
  [CLIENT_SIGNER](request, usages) {
    // Refused at create already; a request that was stored before stays one.
    if (request.organizations.includes(SUPERUSERS)) return `${SUPERUSERS} is not granted by certificate`;
    const odd = usages.find((usage) => !CLIENT_USAGES.includes(usage));
    if (odd !== undefined) return `invalid usage for client certificate: ${odd}`;
    return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
  },
  [KUBELET_CLIENT_SIGNER]({ alternativeNames, commonName, organizations }, usages) {
    if (organizations.length !== 1 || organizations[0] !== NODES_GROUP) {
      return `subject organization is not ${NODES_GROUP}`;
    }
    const names = Object.keys(SPELLED) as (keyof typeof SPELLED)[];
    const granted = names.find((type) => alternativeNames[type] > 0);
    if (granted !== undefined) return `${SPELLED[granted]} subjectAltNames are not allowed`;
    if (!commonName.startsWith(NODE_PREFIX)) return `subject common name does not begin with ${NODE_PREFIX}`;
    const needed = CLIENT_USAGES.filter((usage) => usage !== 'key encipherment');
    const fits = needed.every((usage) => usages.includes(usage)) && usages.every((one) => CLIENT_USAGES.includes(one));
    return fits ? undefined : `usages did not match [${CLIENT_USAGES.join(' ')}]`;
  },
};

const SPELLED: Readonly<Record<Exclude<AlternativeNameType, 'other'>, string>> = {
  dns: 'DNS',
  email: 'Email',
  ip: 'IP',
  uri: 'URI',
};

export const isServedSigner = (signerName: string): boolean => Object.hasOwn(SIGNERS, signerName);

export function checkForSigner(
  signerName: string,
  request: CertificateRequest,
  usages: readonly string[],
): string | undefined {
  const check = isServedSigner(signerName) ? SIGNERS[signerName] : undefined;
  return check === undefined ? `no signer ${JSON.stringify(signerName)}` : check(request, usages);
}

const MINUTE_MS = 60_000;
const MAX_MS = 365 * 86_400_000;
const MIN_MS = 10 * MINUTE_MS;
/** For clients whose clock runs behind. */
const BACKDATE_MS = 5 * MINUTE_MS;
/** A life shorter than this is not shortened by the time it is backdated. */
const SHORT_MS = 480 * MINUTE_MS;

/** From when to when: as asked within ten minutes and a year, and never past the end of the authority. */
export function validityOf(
  authority: string,
  now: number,
  expirationSeconds: number | undefined,
): Pick<ClientGrant, 'notBefore' | 'notAfter'> {
  const asked = expirationSeconds === undefined ? MAX_MS : expirationSeconds * 1000;
  const life = Math.max(Math.min(asked, MAX_MS), MIN_MS);
  const end = endOf(authority);
  if (now >= end) throw new Error(`the signer has expired: ${new Date(end).toISOString()}`);
  return {
    notBefore: now - BACKDATE_MS,
    notAfter: Math.min(life < SHORT_MS ? now + life : now + life - BACKDATE_MS, end),
  };
}
