/** Signs approved requests for client certificates of this API server, each by the rules of its signer. */
import type { CertificateSigningRequest } from '../../../api/generated/certificates-v1.ts';
import type { Clock } from '../../../machinery/runtime/index.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../exchange/object.ts';
import { objectKey } from '../../registry/resource.ts';
import { KindView, type StoredReads } from '../../stored/kind-view.ts';
import { parseCertificateRequest } from '../../../machinery/runtime/certificate-request.ts';
import { type KeyPair, signClientRequest } from '../../../machinery/runtime/certificates.ts';
import { decodeRequest, hasCondition } from './rules.ts';
import { checkForSigner, isServedSigner, validityOf } from './signer-rules.ts';

type Status = NonNullable<CertificateSigningRequest['status']>;

export function startSigner(reads: StoredReads, authority: KeyPair, clock: Clock): () => void {
  const requests = new KindView<CertificateSigningRequest>(reads, 'certificates.k8s.io', 'certificatesigningrequests');
  const busy = new Set<string>();
  const look = (): void => {
    for (const request of requests.values()) {
      const uid = request.metadata.uid ?? '';
      if (busy.has(uid) || !isWaiting(request)) continue;
      busy.add(uid);
      sign(authority, request, clock)
        .then((status) => writeStatus(reads, request, status))
        // A write that came first changed the request: the watch brings it back here.
        .catch(() => {})
        .finally(() => busy.delete(uid));
    }
  };
  requests.onChange(look);
  look();
  return () => requests.stop();
}

function isWaiting(request: CertificateSigningRequest): boolean {
  return (
    isServedSigner(request.spec?.signerName ?? '') &&
    !request.status?.certificate &&
    hasCondition(request, 'Approved') &&
    !hasCondition(request, 'Denied') &&
    !hasCondition(request, 'Failed')
  );
}

async function sign(authority: KeyPair, request: CertificateSigningRequest, clock: Clock): Promise<Status> {
  const { expirationSeconds, signerName = '', usages = [] } = request.spec ?? {};
  const now = clock.now();
  try {
    const parsed = parseCertificateRequest(decodeRequest(request));
    const problem = checkForSigner(signerName, parsed, usages);
    if (problem !== undefined) return failed(request, now, problem);
    const certificate = await signClientRequest(authority, parsed, {
      ...validityOf(authority.certificate, now, expirationSeconds),
      digitalSignature: usages.includes('digital signature'),
      keyEncipherment: usages.includes('key encipherment'),
    });
    return { ...request.status, certificate: Buffer.from(certificate).toString('base64') };
  } catch (error) {
    return failed(request, now, (error as Error).message);
  }
}

function failed(request: CertificateSigningRequest, now: number, message: string): Status {
  const time = formatTime(now);
  const condition = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message };
  const conditions = [
    ...(request.status?.conditions ?? []),
    { ...condition, lastUpdateTime: time, lastTransitionTime: time },
  ];
  return { ...request.status, conditions };
}

async function writeStatus(reads: StoredReads, seen: CertificateSigningRequest, status: Status): Promise<void> {
  const resource = reads.registry.byPlural('certificates.k8s.io', 'certificatesigningrequests');
  if (resource === undefined) return;
  const key = objectKey(resource, undefined, seen.metadata.name ?? '');
  await reads.store.transact((transaction) => {
    const entry = transaction.get(key);
    if (entry === undefined) return;
    const current = reads.objects.read(entry);
    if (current.metadata.resourceVersion !== seen.metadata.resourceVersion) throw new Error('changed meanwhile');
    const object: ApiObject = { ...current, metadata: { ...current.metadata }, status };
    const written = transaction.put(key, (revision) => {
      object.metadata.resourceVersion = String(revision);
      return Buffer.from(JSON.stringify(object), 'utf8');
    });
    reads.objects.keep(written, object);
  });
}
