import type { Metrics } from '../../machinery/runtime/index.ts';
import type { PlainRoute } from './plain-routes.ts';

/** `/metrics`: what the process measures, in the text form Prometheus reads. */
export function metricsRoute({ registry }: Metrics): PlainRoute {
  return {
    handle(_request, path) {
      if (path !== '/metrics') return undefined;
      return registry
        .metrics()
        .then((text) => ({ status: 200, headers: { 'content-type': registry.contentType }, body: Buffer.from(text) }));
    },
  };
}
