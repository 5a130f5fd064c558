/** Strategy of CertificateSigningRequest, without its columns. */
import type { CertificateSigningRequest } from '../../../api/generated/certificates-v1.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { stampConditions, validateRequest, validateRequestUpdate } from './rules.ts';

const asRequest = (object: ApiObject): CertificateSigningRequest => object as unknown as CertificateSigningRequest;

export const signingRequestRules: Strategy = {
  prepareForCreate(object) {
    object['status'] = {};
  },
  prepareForUpdate(object, old) {
    object['spec'] = old['spec'];
  },
  prepareForStatusUpdate: (object, old, { now }) => stampConditions(asRequest(object), asRequest(old), now),
  validate: (object) => validateRequest(asRequest(object)),
  validateUpdate: (object, old) => validateRequestUpdate(asRequest(object), asRequest(old), 'main'),
  validateStatusUpdate: (object, old) => validateRequestUpdate(asRequest(object), asRequest(old), 'status'),
};
