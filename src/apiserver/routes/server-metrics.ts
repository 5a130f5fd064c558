import type { Metrics } from '../../machinery/runtime/index.ts';
import type { Meters } from '../measure/meters.ts';
import type { RequestSeries } from '../measure/request-meter.ts';
import { GIT_VERSION, KUBERNETES } from './plain-routes.ts';

/** Names what the server measures of itself, when somebody reads it. */
export function registerServerMetrics(metrics: Metrics, meters: Meters): void {
  registerRequests(metrics, meters);
  registerAdmission(metrics, meters);
  registerStore(metrics, meters);
  registerHealth(metrics, meters);
  const { major, minor, platform } = KUBERNETES;
  metrics.countedGauge('kubernetes_build_info', () => [[{ major, minor, git_version: GIT_VERSION, platform }, 1]]);
}

const observed = ({ codes }: RequestSeries): boolean => codes.size > 0;

function registerRequests(metrics: Metrics, { requests }: Meters): void {
  const labelsOf = ({ dryRun, labels }: RequestSeries) => ({ ...labels, dry_run: dryRun });
  metrics.countedTotal('apiserver_request_total', function* () {
    for (const series of requests.series()) {
      for (const [code, count] of series.codes) yield [{ ...labelsOf(series), code: String(code) }, count];
    }
  });
  metrics.tallied('apiserver_request_duration_seconds', function* () {
    for (const series of requests.series()) if (observed(series)) yield [labelsOf(series), series.durations];
  });
  metrics.tallied('apiserver_request_sli_duration_seconds', function* () {
    for (const { codes, labels, levels } of requests.series()) {
      if (levels !== undefined && codes.size > 0) yield [labels, levels];
    }
  });
  metrics.tallied('apiserver_response_sizes', function* () {
    for (const { codes, labels, sizes } of requests.series()) {
      if (sizes !== undefined && codes.size > 0) yield [labels, sizes];
    }
  });
  metrics.countedGauge('apiserver_longrunning_requests', function* () {
    for (const { labels, open } of requests.series()) if (labels.verb === 'WATCH' || open > 0) yield [labels, open];
  });
  metrics.countedGauge('apiserver_current_inflight_requests', () => {
    const { mutating, readOnly } = requests.inFlight.most();
    return [
      [{ request_kind: 'mutating' }, mutating],
      [{ request_kind: 'readOnly' }, readOnly],
    ];
  });
  metrics.countedGauge('apiserver_registered_watchers', function* () {
    for (const { group, kind, version, watchers } of requests.watches()) yield [{ group, version, kind }, watchers];
  });
  metrics.countedTotal('apiserver_watch_events_total', function* () {
    for (const { events, group, resource, version } of requests.watches()) {
      if (events > 0) yield [{ group, version, resource }, events];
    }
  });
  metrics.countedGauge('apiserver_requested_deprecated_apis', function* () {
    for (const asked of requests.deprecated()) yield [{ ...asked }, 1];
  });
}

function registerAdmission(metrics: Metrics, { admission }: Meters): void {
  metrics.tallied('apiserver_admission_step_admission_duration_seconds', () => admission.steps);
  metrics.tallied('apiserver_admission_webhook_admission_duration_seconds', () => admission.webhooks);
  metrics.countedTotal('apiserver_admission_webhook_request_total', () => admission.calls);
  metrics.countedTotal('apiserver_admission_webhook_rejection_count', () => admission.rejections);
  metrics.countedTotal('apiserver_admission_webhook_fail_open_count', () => admission.failedOpen);
}

function registerStore(metrics: Metrics, { store }: Meters): void {
  metrics.tallied('etcd_request_duration_seconds', function* () {
    for (const { durations, group, operation, resource } of store.series()) {
      yield [{ operation, group, resource }, durations];
    }
  });
  metrics.countedTotal('etcd_requests_total', function* () {
    for (const { durations, group, operation, resource } of store.series()) {
      yield [{ operation, group, resource }, durations.counts.reduce((sum, one) => sum + one, 0)];
    }
  });
  metrics.countedTotal('etcd_request_errors_total', function* () {
    for (const { failed, group, operation, resource } of store.series()) {
      if (failed > 0) yield [{ operation, group, resource }, failed];
    }
  });
}

function registerHealth(metrics: Metrics, { health }: Meters): void {
  metrics.countedGauge('kubernetes_healthcheck', function* () {
    for (const { isWell, name, type } of health.series()) yield [{ name, type }, isWell ? 1 : 0];
  });
  metrics.countedTotal('kubernetes_healthchecks_total', function* () {
    for (const { error, name, success, type } of health.series()) {
      if (success > 0) yield [{ name, type, status: 'success' }, success];
      if (error > 0) yield [{ name, type, status: 'error' }, error];
    }
  });
}
