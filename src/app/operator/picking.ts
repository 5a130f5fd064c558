/** Pod pickers on a cluster: what the operator's webhook asks, and the controller that cleans up after it. */
import { downscalePodPickerType } from '../../api/quorate/downscale-pod-picker.ts';
import { podType } from '../../api/resource-types.ts';
import { startDownscalePickController } from '../../controllers/downscale-pick/index.ts';
import {
  type AddressRules,
  askPicker,
  createAddressPolicy,
  createHttpProtocol,
} from '../../controllers/picker/index.ts';
import type { StartController } from '../../machinery/runtime/index.ts';
import { allow, reviewDownscale, type ReviewHandler, reviewPicker } from '../../webhook/index.ts';

export interface PickingOptions {
  /** Feature gate DownscalePodPicker: off, nobody is asked; what was picked before is still cleaned up. */
  readonly enabled: boolean;
  /** Where pickers may live beyond, and may not live despite, the built-in rules. */
  readonly pickerAddresses?: AddressRules | undefined;
  /** PEM certificates that pickers' certificates may be signed by, beside the system's roots. */
  readonly pickerCertificates?: string | undefined;
}

export interface Picking {
  readonly handlers: ReadonlyMap<string, ReviewHandler>;
  readonly start: StartController;
}

export function createPicking({ enabled, pickerAddresses, pickerCertificates }: PickingOptions): Picking {
  const handlers = new Map<string, ReviewHandler>(
    ['/pick-downscale', '/validate-pickers'].map((path) => [path, () => Promise.resolve(allow)]),
  );
  return {
    handlers,
    start(context) {
      if (!enabled) return startDownscalePickController(context);
      const { client, clock, informers, log, metrics } = context;
      const pickers = informers.of(downscalePodPickerType);
      const pods = informers.of(podType);
      const events = context.eventsFor('quorate');
      const protocols = [
        createHttpProtocol({
          client,
          addresses: createAddressPolicy(pickerAddresses),
          extraCertificates: pickerCertificates,
        }),
      ];
      const pickersIn = (namespace: string) => pickers.list(namespace);
      const webhook = {
        client,
        clock,
        log,
        pickersIn,
        podsResourceVersion: () => pods.resourceVersion,
        ask: (concern: Parameters<typeof askPicker>[0], signal: AbortSignal) =>
          askPicker(concern, {
            protocols,
            clock,
            metrics,
            events,
            shutdown: AbortSignal.any([signal, context.signal]),
          }),
        unwritten(owner: Parameters<typeof askPicker>[0]['owner'], count: number) {
          const message = `Cannot write the pod picker's choice on ${count} of its pods; others may be removed instead`;
          events.record(
            { ...owner, apiVersion: 'apps/v1', kind: 'ReplicaSet' },
            'Warning',
            'DownscalePodPickerFailed',
            message,
          );
        },
      };
      handlers.set('/pick-downscale', (request, signal) => reviewDownscale(webhook, request, signal));
      handlers.set('/validate-pickers', (request) => Promise.resolve(reviewPicker(pickersIn, request)));
      return startDownscalePickController(context);
    },
  };
}
