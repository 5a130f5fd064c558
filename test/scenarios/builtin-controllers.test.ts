import { afterAll, beforeAll, describe } from 'vitest';
import { endpointSliceController } from '../../src/controllers/kubernetes/endpoint-slice/index.ts';
import { endpointSliceMirroringController } from '../../src/controllers/kubernetes/endpoint-slice-mirroring/index.ts';
import { endpointsController } from '../../src/controllers/kubernetes/endpoints/index.ts';
import { garbageCollector } from '../../src/controllers/kubernetes/garbage-collector/index.ts';
import { namespaceController } from '../../src/controllers/kubernetes/namespace/index.ts';
import { resourceQuotaController } from '../../src/controllers/kubernetes/resource-quota/index.ts';
import { createRootCaController } from '../../src/controllers/kubernetes/root-ca/index.ts';
import { serviceAccountController } from '../../src/controllers/kubernetes/service-account/index.ts';
import { type Clock, systemClock } from '../../src/machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';
import { describeBuiltinControllers } from './builtin-controllers.ts';

describe('built-in controllers on the embedded server', () => {
  let plane: ControlPlane<Clock>;
  beforeAll(async () => {
    plane = await startControlPlane<Clock>({
      clock: systemClock,
      controllers: [
        namespaceController,
        serviceAccountController,
        createRootCaController('-----BEGIN CERTIFICATE-----'),
        garbageCollector,
        resourceQuotaController,
        endpointsController,
        endpointSliceController,
        endpointSliceMirroringController,
      ],
    });
  });
  afterAll(() => plane?.stop());

  describeBuiltinControllers(() => plane);
});
