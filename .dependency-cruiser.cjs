/** What every task may see. */
const TASK = ['cluster-state', 'decisions', 'api', 'machinery/values', 'machinery/runtime'];

/**
 * Who may import whom (docs/adr/0001). Each room lists the rooms it may see; anything else fails the build.
 * Tests and contract suites may also use the testkit.
 */
const ROOMS = {
  'machinery/values': [],
  'machinery/runtime': ['machinery/values', 'api'],
  api: ['machinery/values'],
  decisions: ['api', 'machinery/values'],
  storage: ['machinery/values', 'machinery/runtime'],
  apiserver: ['storage', 'decisions', 'api', 'machinery/values', 'machinery/runtime'],
  // What a cluster says at one moment, read once for a decision.
  'cluster-state': ['decisions', 'api', 'machinery/values', 'machinery/runtime'],
  // Quorate's own controllers and those that stand in for kube-controller-manager never see each other.
  'controllers/shared': ['decisions', 'api', 'machinery/values', 'machinery/runtime'],
  'controllers/quorate': [
    'controllers/shared',
    'cluster-state',
    'decisions',
    'api',
    'machinery/values',
    'machinery/runtime',
  ],
  'controllers/kubernetes': ['controllers/shared', 'decisions', 'api', 'machinery/values', 'machinery/runtime'],
  scheduler: ['decisions', 'api', 'machinery/values', 'machinery/runtime'],
  nodes: ['decisions', 'api', 'machinery/values', 'machinery/runtime'],
  // Its manifests list what controllers may do; nothing else of it sees them.
  webhook: ['controllers/quorate', 'decisions', 'api', 'machinery/values', 'machinery/runtime'],
  'picker-sdk': [],
  'responder-sdk': [],
  // The picture that the dashboard and `quorate top` show; both run it, one of them in a browser.
  fleet: ['decisions', 'api', 'machinery/values'],
  dashboard: ['fleet', 'decisions', 'api', 'machinery/values'],
  app: [
    'fleet',
    'picker-sdk',
    'apiserver',
    'storage',
    'controllers',
    'scheduler',
    'nodes',
    'webhook',
    'decisions',
    'api',
    'machinery/values',
    'machinery/runtime',
  ],
  // Tasks: read a cluster, ask a decision, act. Only demo, simulate and doctor know a host.
  'tasks/documents': ['machinery/values'],
  'tasks/snapshot': ['tasks/documents', ...TASK],
  'tasks/drain': [...TASK],
  'tasks/why': [...TASK],
  'tasks/migrate': [...TASK],
  'tasks/lint': ['controllers', ...TASK],
  'tasks/plan': ['tasks/documents', 'tasks/drain', ...TASK],
  'tasks/simulate': [
    'tasks/drain',
    'tasks/plan',
    'tasks/snapshot',
    'app',
    'apiserver',
    'controllers',
    'nodes',
    'storage',
    ...TASK,
  ],
  'tasks/demo': ['tasks/drain', 'tasks/plan', 'app', 'nodes', 'picker-sdk', ...TASK],
  'tasks/doctor': ['app', 'webhook', ...TASK],
  cli: ['tasks', 'app', 'fleet', 'decisions', 'api', 'machinery/values', 'machinery/runtime'],
  testkit: [
    'app',
    'fleet',
    'cluster-state',
    'apiserver',
    'storage',
    'controllers',
    'scheduler',
    'nodes',
    'webhook',
    'decisions',
    'api',
    'machinery/values',
    'machinery/runtime',
  ],
};

/** The folders of the API server, lowest first: each sees some of those above it in this list, none of those below. */
const APISERVER = {
  exchange: [],
  patch: ['exchange'],
  request: ['exchange'],
  registry: ['exchange', 'request'],
  access: ['exchange', 'request'],
  stored: ['exchange', 'registry'],
  'webhook-call': ['stored'],
  context: ['exchange', 'request', 'registry', 'access', 'stored'],
  codec: ['exchange', 'patch', 'registry', 'context'],
  cel: ['exchange', 'codec'],
  response: ['exchange', 'request', 'registry', 'stored', 'context', 'codec'],
  http: ['exchange', 'response'],
  discovery: ['registry'],
  routes: ['exchange', 'request', 'context', 'response', 'discovery'],
  openapi: ['exchange', 'request', 'registry', 'codec', 'routes'],
  verbs: ['exchange', 'request', 'registry', 'access', 'stored', 'context', 'codec', 'response'],
  subresources: ['exchange', 'request', 'registry', 'access', 'context', 'response', 'verbs'],
  admission: ['exchange', 'registry', 'stored', 'webhook-call', 'context', 'cel'],
  auth: ['exchange', 'registry', 'access', 'stored', 'context', 'verbs'],
  crd: ['exchange', 'registry', 'stored', 'webhook-call', 'context', 'codec', 'cel', 'discovery', 'subresources'],
  kinds: ['exchange', 'request', 'registry', 'context', 'response', 'subresources', 'admission', 'auth', 'crd'],
  'own-kinds': ['exchange', 'registry', 'context', 'crd'],
  eviction: ['exchange', 'registry', 'stored', 'context', 'verbs'],
  unavailability: ['exchange', 'registry', 'stored', 'context', 'eviction'],
  'group-eviction': ['exchange', 'registry', 'stored', 'context', 'eviction', 'unavailability'],
  server: [
    'exchange',
    'request',
    'registry',
    'access',
    'stored',
    'context',
    'codec',
    'response',
    'discovery',
    'routes',
    'openapi',
    'verbs',
    'admission',
    'crd',
    'kinds',
  ],
};

const roomPath = (room) => `^src/${room}/`;

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    ...Object.entries(ROOMS).map(([room, allowed]) => ({
      name: `${room.replace('/', '-')}-imports`,
      severity: 'error',
      from: { path: roomPath(room), pathNot: '\\.(test|contract)\\.ts$' },
      to: { path: '^src/', pathNot: [room, ...allowed].map(roomPath) },
    })),
    ...Object.entries(APISERVER).map(([folder, allowed]) => ({
      name: `apiserver-${folder}-imports`,
      severity: 'error',
      from: { path: `^src/apiserver/${folder}/`, pathNot: '\\.(test|fixture)\\.ts$' },
      to: { path: '^src/apiserver/', pathNot: [folder, ...allowed].map((other) => `^src/apiserver/${other}/`) },
    })),
    {
      name: 'apiserver-has-only-folders',
      comment: 'A file stands in a folder with borders; only the door is loose.',
      severity: 'error',
      from: { path: '^src/apiserver/' },
      to: { path: '^src/apiserver/[^/]+\\.ts$', pathNot: '^src/apiserver/index\\.ts$' },
    },
    {
      name: 'one-command-does-not-import-another',
      comment: 'What two commands need is in src/cli/shared.',
      severity: 'error',
      from: { path: '^src/cli/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/cli/[^/]+/', pathNot: '^src/cli/($1|shared)/' },
    },
    {
      name: 'reviews-do-not-import-controllers',
      comment: 'Only the manifests do, for the rights that controllers declare.',
      severity: 'error',
      from: { path: '^src/webhook/', pathNot: '^src/webhook/manifests/|\\.test\\.ts$' },
      to: { path: '^src/controllers/' },
    },
    {
      name: 'decisions-stay-pure',
      comment: 'A decision sees no clock, timer, randomness, logger, client or node: module.',
      severity: 'error',
      from: { path: '^src/(decisions|machinery/values)/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    // It cannot read them; src/dashboard/borders.test.ts holds them to the same borders.
    exclude: { path: '\\.tsx$' },
  },
};
