/** Who asks for, approves and signs certificates. */
import type { CertificateSigningRequest } from '../../../api/generated/certificates-v1.ts';
import type { Authorizer } from '../../access.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.ts';
import { forbidden, invalid } from '../../status.ts';
import { FieldPath, invalid as invalidValue } from '../../../machinery/values/index.ts';
import { readRequest } from '../../../machinery/runtime/certificates.ts';
import { decodeRequest } from './rules.ts';

const GROUP = 'certificates.k8s.io';
const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

const isRequest = ({ row }: AdmissionAttributes): boolean =>
  row.group === GROUP && row.plural === 'certificatesigningrequests';

const asRequest = (object: unknown): CertificateSigningRequest => object as CertificateSigningRequest;

export function signingRequestAdmission(authorizer: Authorizer): AdmissionPlugin {
  const check = async (attributes: AdmissionAttributes, verb: string): Promise<void> => {
    const signer = asRequest(attributes.oldObject ?? attributes.object).spec?.signerName ?? '';
    const names = [signer, `${signer.split('/', 1)[0]}/*`];
    for (const name of names) {
      const resource = { group: GROUP, version: '*', plural: 'signers', name };
      if ((await authorizer.authorize({ user: attributes.user, verb, resource })).allowed) return;
    }
    const what = verb === 'approve' ? 'approve' : 'sign';
    throw forbidden(
      attributes.row,
      attributes.name,
      `user not permitted to ${what} requests with signerName "${signer}"`,
    );
  };

  return {
    name: 'CertificateSigningRequests',
    handles: (attributes) => isRequest(attributes) && attributes.operation !== 'DELETE',
    admit(attributes) {
      if (attributes.operation !== 'CREATE') return;
      const request = asRequest(attributes.object);
      if (request.spec === undefined) return;
      const { username, uid, groups, extra } = attributes.user;
      const { username: _name, uid: _uid, groups: _groups, extra: _extra, ...rest } = request.spec;
      request.spec = {
        ...rest,
        username,
        ...(uid && { uid }),
        groups: [...groups],
        ...(extra && { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
      };
    },
    async validate(attributes) {
      const request = asRequest(attributes.object);
      if (attributes.operation === 'CREATE') await checkSubject(attributes, request);
      else if (attributes.subresource === 'approval') await check(attributes, 'approve');
      else if (attributes.subresource === 'status') {
        const before = asRequest(attributes.oldObject).status?.certificate;
        if (request.status?.certificate !== before) await check(attributes, 'sign');
      }
    },
  };
}

/** The request must be readable, and nobody becomes a superuser by certificate. */
async function checkSubject(attributes: AdmissionAttributes, request: CertificateSigningRequest): Promise<void> {
  const read = await readRequest(decodeRequest(request));
  if (read === undefined) {
    const why = 'the certificate request cannot be read or its signature is wrong';
    throw invalid(attributes.row, attributes.name ?? '', [
      invalidValue(FieldPath.of('spec', 'request'), request.spec?.request, why),
    ]);
  }
  if (request.spec?.signerName !== CLIENT_SIGNER) return;
  if (read.subject.organizations?.includes('system:masters')) {
    const why = `use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`;
    throw forbidden(attributes.row, attributes.name, why);
  }
}
