/**
 * Writes the Helm chart under deploy/chart from the objects that `quorate install` prints: `npm run chart`.
 * Each object is rendered for every choice of the options that are switches, and lines that differ are put under the
 * condition they depend on; options that are values stand in as marks that become references.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stringify } from 'yaml';
import type { KubeObject } from '../src/api/resource.ts';
import { QUORATE_VERSION } from '../src/api/version.ts';
import { OPTIONAL_FEATURES } from '../src/api/crds/index.ts';
import { defaultInstall, type InstallOptions, installObjects, NOTICE_ACCESS } from '../src/webhook/index.ts';
import { extraFiles } from './monitoring/templates.ts';

export const CHART = join(import.meta.dirname, '..', 'deploy', 'chart');

const MARKS = {
  namespace: 'mark-of-namespace',
  image: 'mark-of-image',
  replicas: 987_654_321,
  mode: 'mark-of-mode' as InstallOptions['mode'],
};
const REFERENCES: readonly [string | RegExp, string][] = [
  [/mark-of-namespace/g, '{{ .Release.Namespace }}'],
  [/mark-of-image/g, '{{ .Values.image }}'],
  [/mark-of-mode/g, '{{ .Values.mode }}'],
  [/987654321/g, '{{ .Values.replicas }}'],
  // One block for each of a list.
  [/( +- ipBlock:\n.*)mark-of-cidr\n/g, '{{- range .Values.webhookFrom }}\n$1{{ . }}\n{{- end }}\n'],
];

const SWITCHES: readonly { condition: string; on: Partial<InstallOptions> }[] = [
  { condition: '.Values.certManager', on: { certManager: true } },
  { condition: '.Values.failOpen', on: { failOpen: true } },
  { condition: 'eq .Values.groups "crd"', on: { groups: 'crd' } },
  { condition: 'eq .Values.evictionRequests "crd"', on: { requestKinds: 'crd' } },
  { condition: '.Values.scheduler', on: { scheduler: true } },
  { condition: '.Values.webhookFrom', on: { webhookFrom: ['mark-of-cidr'] } },
  { condition: '.Values.recreateWebhooks', on: { recreateWebhooks: true } },
  { condition: '.Values.reservations', on: { reservations: true } },
  { condition: '.Values.dashboard', on: { dashboard: true } },
  { condition: 'eq .Values.mode "replace"', on: { mode: 'replace' } },
  ...OPTIONAL_FEATURES.map((feature) => ({
    condition: `not .Values.features.${feature}`,
    on: { [feature]: false },
  })),
];

const FILES: Readonly<Record<string, string>> = {
  CustomResourceDefinition: 'definitions',
  ClusterRole: 'access',
  ClusterRoleBinding: 'access',
  Role: 'access',
  RoleBinding: 'access',
  ServiceAccount: 'access',
  ValidatingWebhookConfiguration: 'webhooks',
  MutatingWebhookConfiguration: 'webhooks',
};

/** The files of the chart by path. */
export function chartFiles(): Map<string, string> {
  const everything = installObjects({
    ...defaultInstall,
    ...MARKS,
    mode: 'replace',
    certManager: true,
    groups: 'crd',
    requestKinds: 'crd',
    scheduler: true,
    recreateWebhooks: true,
    reservations: true,
    dashboard: true,
  });
  const templates = new Map<string, string[]>();
  for (const { apiVersion = '', kind = '', metadata } of everything) {
    // Helm makes the namespace itself, with --create-namespace.
    if (kind === 'Namespace') continue;
    const same = (one: KubeObject): boolean =>
      one.apiVersion === apiVersion && one.kind === kind && one.metadata.name === metadata.name;
    const objectFor = (options: InstallOptions) => installObjects(options).find(same);
    const lines = render(objectFor, { ...defaultInstall, ...MARKS }, switchesOf(objectFor));
    const file = `templates/${FILES[kind] ?? 'operator'}.yaml`;
    templates.set(file, [...(templates.get(file) ?? []), asTemplate(kind, lines)]);
  }
  return new Map([
    ['Chart.yaml', chart()],
    ['values.yaml', VALUES],
    ['values.schema.json', `${JSON.stringify(SCHEMA, null, 2)}\n`],
    ['.helmignore', '*.tgz\n'],
    ['README.md', README],
    ['templates/NOTES.txt', NOTES],
    ...extraFiles(),
    ['templates/notice-secrets.yaml', noticeSecrets()],
    ...[...templates].map(([path, parts]): [string, string] => [path, parts.join('')]),
  ]);
}

/** Where the mode stands as a value: a switch of it must not change that. */
const NAMED_MODE = /(--mode=|policy\.quorate\.dev\/mode: )replace$/gm;

/** The switches that change an object, with all of the others off or all of them on. */
function switchesOf(objectFor: (options: InstallOptions) => KubeObject | undefined): typeof SWITCHES {
  const off = { ...defaultInstall, ...MARKS };
  const on = SWITCHES.reduce<InstallOptions>((all, one) => ({ ...all, ...one.on }), off);
  const text = (options: InstallOptions): string => JSON.stringify(objectFor(options)) ?? '';
  return SWITCHES.filter(({ on: change }) => {
    const without = Object.fromEntries(Object.keys(change).map((key) => [key, off[key as keyof InstallOptions]]));
    return text({ ...off, ...change }) !== text(off) || text({ ...on, ...without }) !== text(on);
  });
}

function render(
  objectFor: (options: InstallOptions) => KubeObject | undefined,
  options: InstallOptions,
  switches: typeof SWITCHES,
): string[] {
  const [first, ...rest] = switches;
  if (first === undefined) {
    const object = objectFor(options);
    if (object === undefined) return [];
    // A line of its own, so that an object that exists under a condition goes with its separator.
    const text = stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }).trimEnd();
    return ['---', ...text.replace(NAMED_MODE, `$1${MARKS.mode}`).split('\n')];
  }
  return merge(render(objectFor, options, rest), render(objectFor, { ...options, ...first.on }, rest), first.condition);
}

/** One text for two: what only one of them has goes under the condition. */
function merge(off: readonly string[], on: readonly string[], condition: string): string[] {
  if (off.length === on.length && off.every((line, at) => line === on[at])) return [...off];
  const common = commonLengths(off, on);
  const merged: string[] = [];
  let without: string[] = [];
  let withIt: string[] = [];
  const flush = (): void => {
    if (without.length > 0 && withIt.length > 0) {
      merged.push(`{{- if ${condition} }}`, ...withIt, '{{- else }}', ...without, '{{- end }}');
    } else if (withIt.length > 0) merged.push(`{{- if ${condition} }}`, ...withIt, '{{- end }}');
    else if (without.length > 0) merged.push(`{{- if not (${condition}) }}`, ...without, '{{- end }}');
    without = [];
    withIt = [];
  };
  let a = 0;
  let b = 0;
  while (a < off.length || b < on.length) {
    if (a < off.length && b < on.length && off[a] === on[b]) {
      flush();
      merged.push(off[a] as string);
      a += 1;
      b += 1;
    } else if (b >= on.length || (a < off.length && (common[a + 1]?.[b] ?? 0) >= (common[a]?.[b + 1] ?? 0))) {
      without.push(off[a] as string);
      a += 1;
    } else {
      withIt.push(on[b] as string);
      b += 1;
    }
  }
  flush();
  return merged;
}

/** `table[a][b]`: how many lines the rests of both texts have in common, in order. */
function commonLengths(off: readonly string[], on: readonly string[]): number[][] {
  const table = Array.from({ length: off.length + 1 }, () => Array.from({ length: on.length + 1 }, () => 0));
  for (let a = off.length - 1; a >= 0; a -= 1) {
    for (let b = on.length - 1; b >= 0; b -= 1) {
      const row = table[a] as number[];
      row[b] =
        off[a] === on[b] ? 1 + (table[a + 1]?.[b + 1] ?? 0) : Math.max(table[a + 1]?.[b] ?? 0, table[a]?.[b + 1] ?? 0);
    }
  }
  return table;
}

function asTemplate(kind: string, lines: readonly string[]): string {
  let text = `${lines.join('\n')}\n`;
  for (const [mark, reference] of REFERENCES) text = text.replaceAll(mark, reference);
  if (kind !== 'CustomResourceDefinition') return text;
  // Without it `helm uninstall` would take every budget with it.
  const keep = '  annotations:\n    helm.sh/resource-policy: keep\n';
  return `{{- if .Values.definitions }}\n${text.replace('metadata:\n', `metadata:\n${keep}`)}{{- end }}\n`;
}

function chart(): string {
  return stringify({
    apiVersion: 'v2',
    name: 'quorate',
    description: 'Budgets, evictions and downscales that count groups of pods.',
    type: 'application',
    version: QUORATE_VERSION,
    appVersion: QUORATE_VERSION,
    kubeVersion: '>=1.30.0-0',
    home: 'https://github.com/quorate-dev/quorate',
    sources: ['https://github.com/quorate-dev/quorate'],
    keywords: ['eviction', 'drain', 'poddisruptionbudget', 'gang', 'podgroup'],
  });
}

const VALUES = `# Container image to run; deploy/Dockerfile builds it.
image: ${defaultInstall.image}
# Replicas of the webhook.
replicas: ${defaultInstall.replicas}
# What becomes of the built-in disruption controller. adopt: it runs, and its numbers of budgets over groups are replaced
# by ours. alongside: it runs, and we can only be stricter. replace: it is switched off, by starting
# kube-controller-manager with --controllers=*,-disruption-controller.
mode: ${defaultInstall.mode}
# Let requests pass when no replica answers, instead of refusing them.
failOpen: ${defaultInstall.failOpen}
# Let cert-manager issue the serving certificate; otherwise Quorate makes its own.
certManager: ${defaultInstall.certManager}
# Who serves Workload and PodGroup. native: the cluster itself. crd: definitions of Quorate, where it does not.
groups: ${defaultInstall.groups}
# Who serves EvictionRequest and Eviction. native: the cluster itself, or nobody. crd: definitions of Quorate.
evictionRequests: ${defaultInstall.requestKinds}
# CIDRs of API servers and nodes. With them, nobody else reaches the webhook's port.
webhookFrom: []
# Also run quorate-scheduler, which places groups whole.
scheduler: ${defaultInstall.scheduler}
# Let the operator put webhook configurations back that somebody deletes: a right to make any.
recreateWebhooks: ${defaultInstall.recreateWebhooks}
# Let the operator make pods that hold room for groups: a right to make pods in every namespace.
reservations: ${defaultInstall.reservations}
# Also serve the dashboard, behind the Service quorate-dashboard, for whoever shows a token of the cluster.
dashboard: ${defaultInstall.dashboard}
# Secrets with headers of calls that tell groups before they go, such as {namespace: ml, names: [checkpoints]}: the operator
# may read these, and no others.
noticeSecrets: []
# What is not used can be left out, and with it the rights that only it needs.
features:
  # Guard deletes by PodUnavailableBudgets (patches pods).
  podUnavailableBudgets: true
  # Evict groups whole by GroupEvictions (deletes pods).
  groupEvictions: true
  # Let applications choose which pods a downscale takes (patches pods).
  pickers: true
  # Make groups for Jobs, JobSets and LeaderWorkerSets that ask for them (writes Workloads and PodGroups).
  groupCreation: true
  # Carry out Maintenances (patches nodes, evicts pods).
  maintenances: true
  # Let budgets ask for room before a disruption (reads volumes, claims and classes of the whole cluster).
  capacity: true
  # Carry out EvictionRequests where the cluster serves them (evicts pods).
  evictionRequests: true
# Let people with the cluster's own roles view and edit read and write the kinds of Quorate.
aggregatedRoles: false
monitoring:
  # Needs Prometheus' operator: a Service for metrics, what scrapes it, and the right to.
  serviceMonitor: false
  # Likewise: alerts, each with a page that says what to do.
  alerts: false
  # A ConfigMap that Grafana's sidecar takes up.
  dashboard: false
  # Labels that Prometheus' operator selects by, such as release: prometheus.
  labels: {}
  # Who scrapes.
  prometheus:
    namespace: monitoring
    serviceAccount: prometheus-k8s
  # A budget that has refused everything for so long is told of.
  drainBlockedMinutes: 15
  # Groups that have been down for so long are told of.
  groupDownMinutes: 30
# Install the definitions too. They are kept when the chart is uninstalled, and with them all budgets.
definitions: true
`;

const NAME = { type: 'string', minLength: 1 };

const SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  additionalProperties: false,
  properties: {
    image: { type: 'string', minLength: 1 },
    replicas: { type: 'integer', minimum: 1 },
    mode: { enum: ['adopt', 'alongside', 'replace'] },
    failOpen: { type: 'boolean' },
    certManager: { type: 'boolean' },
    groups: { enum: ['native', 'crd'] },
    evictionRequests: { enum: ['native', 'crd'] },
    webhookFrom: { type: 'array', items: { type: 'string', minLength: 1 } },
    scheduler: { type: 'boolean' },
    recreateWebhooks: { type: 'boolean' },
    reservations: { type: 'boolean' },
    dashboard: { type: 'boolean' },
    noticeSecrets: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['namespace', 'names'],
        properties: { namespace: NAME, names: { type: 'array', minItems: 1, items: NAME } },
      },
    },
    features: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(OPTIONAL_FEATURES.map((feature) => [feature, { type: 'boolean' }])),
    },
    aggregatedRoles: { type: 'boolean' },
    monitoring: {
      type: 'object',
      additionalProperties: false,
      properties: {
        serviceMonitor: { type: 'boolean' },
        alerts: { type: 'boolean' },
        dashboard: { type: 'boolean' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        prometheus: {
          type: 'object',
          additionalProperties: false,
          properties: { namespace: NAME, serviceAccount: NAME },
        },
        drainBlockedMinutes: { type: 'integer', minimum: 1 },
        groupDownMinutes: { type: 'integer', minimum: 1 },
      },
    },
    definitions: { type: 'boolean' },
    global: { type: 'object' },
  },
};

const README = `# Quorate

Budgets, evictions and downscales that count groups of pods. \`values.yaml\` says what can be set, and
\`values.schema.json\` holds it to that; \`helm test\` asks the webhook whether it is ready. Written by \`npm run chart\`.
`;

const NOTES = `Quorate runs in namespace {{ .Release.Namespace }}, {{ .Values.mode }}.

  quorate doctor --namespace {{ .Release.Namespace }}        checks the installation
  kubectl get disruptionledgers --all-namespaces    shows what may go now
`;

/** As for one Secret, for each namespace with all of its own. */
function noticeSecrets(): string {
  const options = { ...defaultInstall, ...MARKS, noticeSecrets: ['mark-of-place/mark-of-secret'] };
  const text = installObjects(options)
    .filter(({ metadata }) => metadata.name === NOTICE_ACCESS)
    .map((object) => `---\n${stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })}`)
    .join('')
    .replaceAll('mark-of-place', '{{ .namespace }}')
    .replaceAll(MARKS.namespace, '{{ $.Release.Namespace }}')
    .replace(/ +- mark-of-secret\n/, '{{ toYaml .names | indent 6 }}\n');
  return `{{- if .Values.features.groupEvictions }}\n{{- range .Values.noticeSecrets }}\n${text}{{- end }}\n{{- end }}\n`;
}

export function writeChart(): void {
  rmSync(CHART, { recursive: true, force: true });
  for (const [path, text] of chartFiles()) {
    mkdirSync(dirname(join(CHART, path)), { recursive: true });
    writeFileSync(join(CHART, path), text);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeChart();
