/** What the API server is told to ask us, as numbers. */
import type { Metrics, Series } from '../../machinery/runtime/index.ts';
import { namespacesOf } from './guarded-namespaces.ts';
import { CONFIGURATION_NAMES, type RegistrationKeeper } from './registration.ts';

export function countGuarded(metrics: Metrics, { found }: Pick<RegistrationKeeper, 'found'>): void {
  metrics.countedGauge('quorate_webhook_armed', () => {
    const armed = new Set(found().flatMap(({ metadata, webhooks = [] }) => (webhooks.length > 0 ? metadata.name : [])));
    return CONFIGURATION_NAMES.map(
      (name): Series<'quorate_webhook_armed'> => [{ configuration: name }, armed.has(name) ? 1 : 0],
    );
  });
  metrics.countedGauge('quorate_guarded_namespaces', () =>
    found().flatMap(({ webhooks = [] }) =>
      webhooks.flatMap((webhook): Series<'quorate_guarded_namespaces'>[] => {
        const names = namespacesOf(webhook);
        return names === undefined ? [] : [[{ webhook: webhook.name }, names.length]];
      }),
    ),
  );
}
