/** The API server with everything a control plane adds to it: access control, admission, subresources. */
import {
  addEviction,
  type ApiServer,
  type ApiServerOptions,
  builtinAdmission,
  builtinRows,
  createApiServer,
  createAuth,
  createCodec,
  CustomResources,
  type Kernel,
  type Pki,
} from '../apiserver/index.ts';
import type { Clock, Logger } from '../machinery/runtime/index.ts';
import type { Store } from '../storage/index.ts';

export interface PlaneOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  readonly newUid?: () => string;
  /** Without it every caller is who it says and may do everything. */
  readonly pki?: Pki;
  /** Pods are held to having a service account; needs the controller that makes them. */
  readonly serviceAccounts?: boolean;
  readonly extend?: (kernel: Kernel) => void;
}

export function createPlane(options: PlaneOptions): ApiServer {
  const { store, clock, log, pki } = options;
  const newUid = options.newUid ?? (() => crypto.randomUUID());
  const server: ApiServerOptions = {
    store,
    rows: builtinRows(),
    clock,
    log,
    newUid,
    codec: createCodec(),
    admission: (kernel) => builtinAdmission(kernel, { serviceAccounts: options.serviceAccounts ?? false }),
    ...(options.random && { random: options.random }),
    ...(pki && { access: (reads) => createAuth({ reads, pki, clock, newUid }) }),
  };
  const plane = createApiServer(server);
  const custom = new CustomResources(plane.kernel);
  addEviction(plane.kernel);
  options.extend?.(plane.kernel);
  return {
    ...plane,
    close() {
      custom.stop();
      plane.close();
    },
  };
}
