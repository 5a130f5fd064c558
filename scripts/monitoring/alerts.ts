/** The alerts of the chart. Each has a page under docs/runbooks, named like the alert. */
export interface Alert {
  readonly name: string;
  readonly expression: string;
  readonly for: string;
  readonly severity: 'warning' | 'critical';
  readonly summary: string;
}

/** Where the runbooks are read. */
export const RUNBOOKS = 'https://github.com/quorate-dev/quorate/blob/main/docs/runbooks';

const drainMinutes = '{{ .Values.monitoring.drainBlockedMinutes }}';
const groupMinutes = '{{ .Values.monitoring.groupDownMinutes }}';
/** Left to Prometheus by Helm. */
const value = (label: string): string => `{{ "{{" }} $labels.${label} {{ "}}" }}`;

export const ALERTS: readonly Alert[] = [
  {
    name: 'QuorateDrainBlocked',
    expression: `max by (namespace, budget) (quorate_budget_refused_seconds) > 60 * ${drainMinutes}`,
    for: '1m',
    severity: 'warning',
    summary: `Budget ${value('namespace')}/${value('budget')} has refused every eviction for more than ${drainMinutes} minutes`,
  },
  {
    name: 'QuorateGroupDown',
    expression: 'max by (namespace, budget) (quorate_budget_units_expected - quorate_budget_units_available) > 0',
    for: `${groupMinutes}m`,
    severity: 'warning',
    summary: `Groups of budget ${value('namespace')}/${value('budget')} have been down for more than ${groupMinutes} minutes`,
  },
  {
    name: 'QuorateWebhookFailing',
    expression:
      'sum(rate(quorate_eviction_reviews_total{result="refused",reason="Unavailable"}[5m])) > 0 or sum(rate(quorate_reviews_rejected_total{reason!="NotBelieved"}[5m])) > 0',
    for: '5m',
    severity: 'critical',
    summary: 'Reviews reach Quorate and cannot be decided',
  },
  {
    name: 'QuorateWebhookUnreachable',
    expression:
      'sum by (name) (rate(apiserver_admission_webhook_fail_open_count{name=~".+[.]quorate[.]dev"}[5m])) > 0 or sum by (name) (rate(apiserver_admission_webhook_rejection_count{name=~".+[.]quorate[.]dev",error_type!="no_error"}[5m])) > 0',
    for: '5m',
    severity: 'critical',
    summary: `The API server gets no answer from ${value('name')}`,
  },
  {
    name: 'QuorateUnguarded',
    expression:
      'max(quorate_webhook_armed{configuration="quorate-evictions"}) == 0 and on() count(quorate_budget_units_expected) > 0',
    for: '5m',
    severity: 'critical',
    summary: 'There are budgets over groups, and nobody is asked about evictions',
  },
  {
    name: 'QuorateCertificateExpiring',
    expression: 'min by (certificate) (quorate_certificate_expiry_timestamp_seconds) - time() < 7 * 86400',
    for: '1h',
    severity: 'warning',
    summary: `The ${value('certificate')} certificate of the webhook ends within seven days`,
  },
  {
    name: 'QuorateNoLeader',
    expression: 'max by (job) (quorate_leader) == 0 or absent(quorate_leader)',
    for: '5m',
    severity: 'critical',
    summary: 'No replica leads: budgets that change are held back, and nothing is mended',
  },
  {
    name: 'QuorateCacheStale',
    expression: 'min by (resource) (quorate_cache_live) == 0',
    for: '5m',
    severity: 'warning',
    summary: `A replica does not follow ${value('resource')}: evictions asked of it are told to come again`,
  },
  {
    name: 'QuorateFallbackToPods',
    expression: 'max by (namespace, budget) (quorate_fallback_to_pods) == 1',
    for: '5m',
    severity: 'warning',
    summary: `Budget ${value('namespace')}/${value('budget')} counts pods because its groups cannot be resolved`,
  },
];
