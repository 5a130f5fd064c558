import { disruptionPolicyType } from '../../../api/quorate/disruption-policy.ts';
import type { ResourceType } from '../../../api/resource.ts';
import type { OwnController } from '../own-controller.ts';
import { disruptionPolicyController } from './controller.ts';

export const disruptionPolicy: OwnController = {
  hosts: { embedded: 'always', operator: 'always' },
  needs: disruptionPolicyType as ResourceType,
  create: () => disruptionPolicyController,
};
