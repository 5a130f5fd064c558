/** What may be in a certificate signing request, and which part of it each way of writing may change. */
import { X509Certificate } from 'node:crypto';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../../api/generated/certificates-v1.ts';
import { parseCertificateRequest } from '../../../machinery/runtime/certificate-request.ts';
import {
  deepEqual,
  duplicate,
  FieldPath,
  forbidden,
  formatTime,
  type Issue,
  invalid,
  notSupported,
  required,
  semanticEqual,
} from '../../../machinery/values/index.ts';

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const MIN_SECONDS = 600;
const spec = FieldPath.of('spec');
const conditionsPath = FieldPath.of('status', 'conditions');

const conditionsOf = ({ status }: CertificateSigningRequest): CertificateSigningRequestCondition[] =>
  status?.conditions ?? [];

const conditionOf = (request: CertificateSigningRequest, type: string) =>
  conditionsOf(request).find((condition) => condition.type === type);

export const hasCondition = (request: CertificateSigningRequest, type: string): boolean =>
  conditionOf(request, type) !== undefined;

export function decodeRequest({ spec: given }: CertificateSigningRequest): string {
  return Buffer.from(given?.request ?? '', 'base64').toString('utf8');
}

export function validateRequest(request: CertificateSigningRequest): Issue[] {
  const issues: Issue[] = [];
  const { usages = [], signerName = '', expirationSeconds } = request.spec ?? {};
  try {
    parseCertificateRequest(decodeRequest(request));
  } catch (error) {
    issues.push(invalid(spec.child('request'), request.spec?.request, (error as Error).message));
  }
  if (usages.length === 0) issues.push(required(spec.child('usages')));
  for (const [at, usage] of usages.entries()) {
    if (!USAGES.includes(usage)) issues.push(notSupported(spec.child('usages').index(at), usage, USAGES));
    if (usages.indexOf(usage) < at) issues.push(duplicate(spec.child('usages').index(at), usage));
  }
  if (!/^[a-z0-9.-]+\.[a-z0-9-]+\/[^/]+$/.test(signerName)) {
    const why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    issues.push(
      signerName === '' ? required(spec.child('signerName')) : invalid(spec.child('signerName'), signerName, why),
    );
  }
  if (signerName === 'kubernetes.io/legacy-unknown') {
    issues.push(
      invalid(spec.child('signerName'), signerName, 'the legacy signerName is not allowed via this API version'),
    );
  }
  if (expirationSeconds !== undefined && expirationSeconds < MIN_SECONDS) {
    const why = 'may not specify a duration less than 600 seconds (10 minutes)';
    issues.push(invalid(spec.child('expirationSeconds'), expirationSeconds, why));
  }
  return [...issues, ...validateConditions(request)];
}

function validateConditions(request: CertificateSigningRequest): Issue[] {
  const issues: Issue[] = [];
  for (const [at, { type, status }] of conditionsOf(request).entries()) {
    const own = conditionsPath.index(at);
    if (!type) issues.push(required(own.child('type')));
    const final = ['Approved', 'Denied', 'Failed'].includes(type);
    const allowed = final ? ['True'] : ['True', 'False', 'Unknown'];
    if (!status) issues.push(required(own.child('status')));
    else if (!allowed.includes(status)) issues.push(notSupported(own.child('status'), status, allowed));
    if (conditionsOf(request).findIndex((other) => other.type === type) < at) {
      issues.push(duplicate(own.child('type'), type));
    }
  }
  if (hasCondition(request, 'Approved') && hasCondition(request, 'Denied')) {
    issues.push(invalid(conditionsPath, 'Denied', 'Approved and Denied conditions are mutually exclusive'));
  }
  return issues;
}

/** Final conditions never go away; only approval adds Approved and Denied; only status writes the certificate, once. */
export function validateRequestUpdate(
  request: CertificateSigningRequest,
  old: CertificateSigningRequest,
  by: 'main' | 'approval' | 'status',
): Issue[] {
  const issues: Issue[] = [...validateConditions(request)];
  for (const type of ['Approved', 'Denied', 'Failed']) {
    if (hasCondition(old, type) && !hasCondition(request, type)) {
      issues.push(forbidden(conditionsPath, `updates may not remove a condition of type "${type}"`));
    }
  }
  if (by !== 'approval') {
    for (const type of ['Approved', 'Denied']) {
      const [held, given] = [conditionOf(old, type), conditionOf(request, type)];
      if (held === undefined && given !== undefined) {
        issues.push(forbidden(conditionsPath, `updates may not add a condition of type "${type}"`));
      } else if (held !== undefined && given !== undefined && !semanticEqual(held, given)) {
        issues.push(forbidden(conditionsPath, `updates may not modify a condition of type "${type}"`));
      }
    }
  }
  const [before, after] = [old.status?.certificate, request.status?.certificate];
  if (!deepEqual(before, after)) {
    const path = FieldPath.of('status', 'certificate');
    if (by !== 'status') issues.push(forbidden(path, 'updates may not set certificate content'));
    else if (before) issues.push(forbidden(path, 'updates may not modify existing certificate content'));
    const problem = after ? problemWithChain(Buffer.from(after, 'base64').toString('latin1')) : undefined;
    if (problem !== undefined) issues.push(invalid(path, '<certificate data>', problem));
  }
  return issues;
}

/** Why a text is no chain of certificates in PEM. */
function problemWithChain(pem: string): string | undefined {
  const blocks = [...pem.matchAll(/-----BEGIN ([^\n-]+)-----[\s\S]*?-----END \1-----/g)];
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  for (const [block, type] of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (block.includes(':')) return 'no PEM block headers are permitted';
    try {
      new X509Certificate(block);
    } catch {
      return 'a CERTIFICATE PEM block cannot be read';
    }
  }
  return undefined;
}

/** Fills in when a condition was last written and when it last changed. */
export function stampConditions(request: CertificateSigningRequest, old: CertificateSigningRequest, now: number): void {
  for (const condition of conditionsOf(request)) {
    const known = conditionsOf(old).find(({ type, status }) => type === condition.type && status === condition.status);
    condition.lastUpdateTime ??= formatTime(now);
    condition.lastTransitionTime ??= known?.lastTransitionTime ?? formatTime(now);
  }
}
