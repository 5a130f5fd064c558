/** Strategy of CertificateSigningRequest, without its columns. */
import type { CertificateSigningRequest } from '../../../api/generated/certificates-v1.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { stampConditions, validateRequest, validateRequestUpdate } from './rules.ts';

export const signingRequestRules = strategyOf<CertificateSigningRequest>({
  prepareForCreate(object) {
    object['status'] = {};
  },
  prepareForUpdate(object, old) {
    object['spec'] = old['spec'];
  },
  prepareForStatusUpdate: (object, old, { now }) => stampConditions(object, old, now),
  validate: (object) => validateRequest(object),
  validateUpdate: (object, old) => validateRequestUpdate(object, old, 'main'),
  validateStatusUpdate: (object, old) => validateRequestUpdate(object, old, 'status'),
});
