/** Who asks for, approves and signs certificates. */
import type { CertificateSigningRequest } from '../../../api/generated/certificates-v1.ts';
import type { Authorizer } from '../../access/access.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../context/admission-plugin.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';
import { parseCertificateRequest } from '../../../machinery/runtime/certificate-request.ts';
import { forbidden } from '../../exchange/status.ts';
import { userInfoOf } from '../../exchange/user.ts';
import { SUPERUSERS } from '../rbac/authorizer.ts';
import { decodeRequest } from './rules.ts';
import { CLIENT_SIGNER } from './signer-rules.ts';

const GROUP = 'certificates.k8s.io';

const isRequest = ({ resource }: AdmissionAttributes): boolean =>
  resource.group === GROUP && resource.plural === 'certificatesigningrequests';

const asRequest = (object: unknown): CertificateSigningRequest => object as CertificateSigningRequest;

/** Throws unless the user has the verb on the signer, or on all signers of its domain. */
async function demand(
  authorizer: Authorizer,
  attributes: AdmissionAttributes,
  { signer, verb, what }: { signer: string; verb: string; what: string },
): Promise<void> {
  for (const name of [signer, `${signer.split('/', 1)[0]}/*`]) {
    const resource = { group: GROUP, version: '*', plural: 'signers', name };
    if ((await authorizer.authorize({ user: attributes.user, verb, resource })).allowed) return;
  }
  throw forbidden(attributes.resource, attributes.name, `user not permitted to ${what} signerName "${signer}"`);
}

export function signingRequestAdmission(authorizer: Authorizer): AdmissionPlugin {
  const check = (attributes: AdmissionAttributes, verb: 'approve' | 'sign'): Promise<void> => {
    const signer = asRequest(attributes.oldObject ?? attributes.object).spec?.signerName ?? '';
    return demand(authorizer, attributes, { signer, verb, what: `${verb} requests with` });
  };

  return {
    name: 'CertificateSigningRequests',
    handles: (attributes) => isRequest(attributes) && attributes.operation !== 'DELETE',
    admit(attributes) {
      if (attributes.operation !== 'CREATE') return;
      const request = asRequest(attributes.object);
      if (request.spec === undefined) return;
      const { username: _name, uid: _uid, groups: _groups, extra: _extra, ...rest } = request.spec;
      request.spec = { ...rest, ...userInfoOf(attributes.user) };
    },
    async validate(attributes) {
      const request = asRequest(attributes.object);
      if (attributes.operation === 'CREATE') checkSubject(attributes, request);
      else if (attributes.subresource === 'approval') await check(attributes, 'approve');
      else if (attributes.subresource === 'status') {
        const before = asRequest(attributes.oldObject).status;
        const same =
          request.status?.certificate === before?.certificate &&
          semanticEqual(request.status?.conditions, before?.conditions);
        if (!same) await check(attributes, 'sign');
      }
    },
  };
}

/** Nobody becomes a superuser by certificate. That the request can be read was checked with the rest of it. */
function checkSubject(attributes: AdmissionAttributes, request: CertificateSigningRequest): void {
  if (request.spec?.signerName !== CLIENT_SIGNER) return;
  const { organizations } = parseCertificateRequest(decodeRequest(request));
  if (organizations.includes(SUPERUSERS)) {
    const why = `use of ${CLIENT_SIGNER} signer with ${SUPERUSERS} group is not allowed`;
    throw forbidden(attributes.resource, attributes.name, why);
  }
}
