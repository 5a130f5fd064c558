/** `certificatesigningrequests/approval`: writes the conditions and nothing else. */
import type { CertificateSigningRequest } from '../../../api/generated/certificates-v1.ts';
import { deepClone } from '../../../machinery/values/index.ts';
import type { Call } from '../../context/call.ts';
import type { ApiResponse } from '../../exchange/exchange.ts';
import type { ApiObject } from '../../exchange/object.ts';
import type { Subresource } from '../../registry/subresource.ts';
import { readObject } from '../../verbs/body.ts';
import { checkIdentity, respondWithWritten } from '../../verbs/create.ts';
import { get } from '../../verbs/get.ts';
import { innerSubresource } from '../../verbs/inner-subresource.ts';
import { patchObject } from '../../verbs/patch.ts';
import { type UpdateRules, updateObject } from '../../verbs/update.ts';
import { stampConditions, validateRequestUpdate } from './rules.ts';

const asRequest = (object: ApiObject): CertificateSigningRequest => object as CertificateSigningRequest;

export const approvalSubresource: Subresource = innerSubresource(
  { verbs: ['get', 'patch', 'update'], kind: { kind: 'CertificateSigningRequest' } },
  run,
);

async function run(call: Call): Promise<ApiResponse> {
  if (call.info.verb === 'get') return get(call);
  if (call.info.verb === 'patch') {
    const { status, written } = await patchObject(call, rules(call));
    return respondWithWritten(call, status, written);
  }
  const given = readObject(call);
  checkIdentity(call, given);
  const written = await updateObject(call, {
    compute: () => deepClone(given),
    rules: rules(call),
    optionsKind: 'UpdateOptions',
  });
  return respondWithWritten(call, 200, written);
}

function rules({ context }: Call): UpdateRules {
  return {
    protect(object, old) {
      const request = asRequest(object);
      stampConditions(request, asRequest(old), context.clock.now());
      const conditions = request.status?.conditions;
      object['spec'] = old['spec'];
      object['status'] = { ...asRequest(old).status, ...(conditions && { conditions }) };
    },
    validate: (object, old) => validateRequestUpdate(asRequest(object), asRequest(old), 'approval'),
    bumpsGeneration: false,
  };
}
