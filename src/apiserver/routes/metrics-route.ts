import type { Metrics } from '../../machinery/runtime/index.ts';
import type { PlainRoute } from './plain-routes.ts';

/** `/metrics` and the pages below it: what the process measures, in the text form Prometheus reads. */
export function metricsRoute(metrics: Metrics): PlainRoute {
  return {
    handle(_request, path) {
      const page = path.startsWith('/metrics') ? metrics.page(path) : undefined;
      return page?.metrics().then((text) => {
        return { status: 200, headers: { 'content-type': page.contentType }, body: Buffer.from(text) };
      });
    },
  };
}
