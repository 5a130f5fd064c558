import { afterAll, beforeAll, describe } from 'vitest';
import { startEndpointSliceController } from '../../src/controllers/endpoint-slice/index.ts';
import { startEndpointSliceMirroringController } from '../../src/controllers/endpoint-slice-mirroring/index.ts';
import { startEndpointsController } from '../../src/controllers/endpoints/index.ts';
import { startGarbageCollector } from '../../src/controllers/garbage-collector/index.ts';
import { startNamespaceController } from '../../src/controllers/namespace/index.ts';
import { startResourceQuotaController } from '../../src/controllers/resource-quota/index.ts';
import { rootCaController } from '../../src/controllers/root-ca/index.ts';
import { startServiceAccountController } from '../../src/controllers/service-account/index.ts';
import { type Clock, systemClock } from '../../src/machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';
import { describeBuiltinControllers } from './builtin-controllers.ts';

describe('built-in controllers on the embedded server', () => {
  let plane: ControlPlane<Clock>;
  beforeAll(async () => {
    plane = await startControlPlane<Clock>({
      clock: systemClock,
      controllers: [
        startNamespaceController,
        startServiceAccountController,
        rootCaController('-----BEGIN CERTIFICATE-----'),
        startGarbageCollector,
        startResourceQuotaController,
        startEndpointsController,
        startEndpointSliceController,
        startEndpointSliceMirroringController,
      ],
    });
  });
  afterAll(() => plane?.stop());

  describeBuiltinControllers(() => plane);
});
