/** What the chart adds for those who look at it: off by default, because it needs kinds of others. */
import { stringify } from 'yaml';
import { OWN_KINDS } from '../../src/api/crds/index.ts';
import { labels, METRICS_PORT, METRICS_READER, NAME, SCHEDULER, SERVICE } from '../../src/webhook/index.ts';
import { ALERTS, RUNBOOKS } from './alerts.ts';
import { dashboard } from './dashboard.ts';

const NAMESPACE = '{{ .Release.Namespace }}';
const TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** Files of the chart by path. */
export function extraFiles(): [path: string, text: string][] {
  return [
    ['dashboards/quorate.json', `${JSON.stringify(dashboard(), null, 2)}\n`],
    ['templates/dashboard.yaml', when('.Values.monitoring.dashboard', DASHBOARD)],
    ['templates/monitors.yaml', monitors()],
    ['templates/alerts.yaml', when('.Values.monitoring.alerts', alerts())],
    ['templates/aggregated-roles.yaml', when('.Values.aggregatedRoles', aggregatedRoles().map(yaml).join(''))],
    ['templates/tests/answers.yaml', TEST],
  ];
}

const when = (condition: string, text: string): string => `{{- if ${condition} }}\n${text}{{- end }}\n`;
const yaml = (object: object): string => `---\n${stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })}`;

/** Of a kind that Prometheus' operator brings; its labels are what that operator selects by. */
function monitored(kind: string, name: string, spec: object): string {
  const metadata = { name, namespace: NAMESPACE, labels: { ...labels, MORE: 'x' } };
  return yaml({ apiVersion: 'monitoring.coreos.com/v1', kind, metadata, spec }).replace(
    /^ +MORE: x\n/m,
    '{{- with .Values.monitoring.labels }}\n{{ toYaml . | indent 4 }}\n{{- end }}\n',
  );
}

function monitors(): string {
  const own = { ca: { secret: { name: `${SERVICE}-tls`, key: 'ca.crt' } }, serverName: `${SERVICE}.${NAMESPACE}.svc` };
  const reader = yaml({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: METRICS_READER, labels },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: METRICS_READER },
    subjects: [
      {
        kind: 'ServiceAccount',
        name: '{{ .Values.monitoring.prometheus.serviceAccount }}',
        namespace: '{{ .Values.monitoring.prometheus.namespace }}',
      },
    ],
  });
  // Whoever makes its own certificate is known by nobody.
  const scheduler = monitor(SCHEDULER, { insecureSkipVerify: true });
  const all = `${monitor(NAME, own)}${when('.Values.scheduler', scheduler)}${reader}`;
  return when('.Values.monitoring.serviceMonitor', all);
}

/** A Service of its own for metrics, as that of the webhook must have no other port, and what scrapes it. */
function monitor(app: string, tlsConfig: object): string {
  const name = `${app}-metrics`;
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: NAMESPACE, labels: { ...labels, 'app.kubernetes.io/component': name } },
    spec: {
      clusterIP: 'None',
      selector: { ...labels, 'app.kubernetes.io/name': app },
      ports: [{ name: 'metrics', port: METRICS_PORT, targetPort: 'metrics' }],
    },
  };
  // The namespace of a budget is a label of ours: not the namespace of the replica that tells of it.
  const endpoint = { port: 'metrics', scheme: 'https', honorLabels: true, bearerTokenFile: TOKEN, tlsConfig };
  const selector = { matchLabels: { 'app.kubernetes.io/component': name } };
  return `${yaml(service)}${monitored('ServiceMonitor', app, { selector, endpoints: [endpoint] })}`;
}

function alerts(): string {
  const rules = ALERTS.map(({ expression, for: lasting, name, severity, summary }) => ({
    alert: name,
    expr: expression,
    for: lasting,
    labels: { severity },
    annotations: { summary, runbook_url: `${RUNBOOKS}/${name}.md` },
  }));
  return monitored('PrometheusRule', NAME, { groups: [{ name: 'quorate', rules }] });
}

const DASHBOARD = `---
apiVersion: v1
kind: ConfigMap
metadata:
  name: quorate-dashboard
  namespace: ${NAMESPACE}
  labels:
    app.kubernetes.io/name: ${NAME}
    app.kubernetes.io/managed-by: quorate
    # What Grafana's sidecar looks for.
    grafana_dashboard: "1"
data:
  quorate.json: |
{{ .Files.Get "dashboards/quorate.json" | indent 4 }}
`;

/** People with the cluster's own roles may do with our kinds what those roles say; ledgers are nobody's to write. */
function aggregatedRoles(): object[] {
  const kinds = OWN_KINDS.filter(({ installed }) => installed);
  const written = kinds.filter(({ feature }) => feature !== undefined);
  const rules = (of: typeof kinds, verbs: string[]) =>
    of.map(({ type: { group, plural } }) => ({ apiGroups: [group], resources: [plural], verbs }));
  const role = (to: string, own: object[], more: string[] = []) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name: `quorate-${to}`,
      labels: {
        ...labels,
        ...Object.fromEntries([to, ...more].map((one) => [`rbac.authorization.k8s.io/aggregate-to-${one}`, 'true'])),
      },
    },
    rules: own,
  });
  const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection'];
  return [role('view', rules(kinds, ['get', 'list', 'watch'])), role('edit', rules(written, WRITE), ['admin'])];
}

/** \`helm test\`: whether the webhook's Service answers. */
const TEST = `apiVersion: v1
kind: Pod
metadata:
  name: quorate-answers
  namespace: ${NAMESPACE}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: ask
      image: {{ .Values.image }}
      command:
        - node
        - -e
        - >-
          require("https").get("https://${SERVICE}.${NAMESPACE}.svc/readyz?verbose", {rejectUnauthorized: false},
          (answer) => { answer.pipe(process.stdout); process.exitCode = answer.statusCode === 200 ? 0 : 1; })
          .on("error", (error) => { console.error(error.message); process.exitCode = 1; })
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
`;
