/** Pod pickers on a cluster: what the operator's webhook asks. */
import { downscalePodPickerType } from '../../api/quorate/downscale-pod-picker.ts';
import { podType } from '../../api/resource-types.ts';
import {
  type AddressRules,
  askPicker,
  createAddressPolicy,
  createHttpProtocol,
} from '../../controllers/shared/picker/index.ts';
import type { Clock, Logger, Metrics } from '../../machinery/runtime/index.ts';
import {
  allow,
  type DownscaleWebhook,
  reviewDownscale,
  type ReviewHandler,
  reviewPicker,
} from '../../webhook/index.ts';
import type { Components } from '../run-components.ts';

export interface PickingOptions {
  /** Feature gate DownscalePodPicker: off, nobody is asked. */
  readonly enabled: boolean;
  /** Where pickers may live beyond, and may not live despite, the built-in rules. */
  readonly pickerAddresses?: AddressRules | undefined;
  /** PEM certificates that pickers' certificates may be signed by, beside the system's roots. */
  readonly pickerCertificates?: string | undefined;
}

export interface PickingParts {
  readonly components: Components;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export function createPickingHandlers(
  { enabled, pickerAddresses, pickerCertificates }: PickingOptions,
  { clock, components, log, metrics }: PickingParts,
): ReadonlyMap<string, ReviewHandler> {
  if (!enabled) {
    const admit: ReviewHandler = () => Promise.resolve(allow);
    return new Map(['/pick-downscale', '/validate-pickers'].map((path) => [path, admit]));
  }
  const { client, informers } = components;
  const pickers = informers.of(downscalePodPickerType);
  const pods = informers.of(podType);
  const events = components.eventsFor('quorate');
  const addresses = createAddressPolicy(pickerAddresses);
  const protocols = [createHttpProtocol({ client, addresses, extraCertificates: pickerCertificates })];
  const pickersIn = (namespace: string) => pickers.list(namespace);
  const webhook: DownscaleWebhook = {
    client,
    clock,
    log,
    pickersIn,
    podsResourceVersion: () => pods.resourceVersion,
    ask: (concern, signal) =>
      askPicker(concern, {
        protocols,
        clock,
        metrics,
        events,
        shutdown: AbortSignal.any([signal, components.signal]),
      }),
    unwritten(owner, count) {
      const message = `Cannot write the pod picker's choice on ${count} of its pods; others may be removed instead`;
      const replicaSet = { ...owner, apiVersion: 'apps/v1', kind: 'ReplicaSet' };
      events.record(replicaSet, 'Warning', 'DownscalePodPickerFailed', message);
    },
  };
  return new Map<string, ReviewHandler>([
    ['/pick-downscale', (request, signal) => reviewDownscale(webhook, request, signal)],
    ['/validate-pickers', (request) => Promise.resolve(reviewPicker(pickersIn, request))],
  ]);
}
