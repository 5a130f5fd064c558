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
  controllers: ['decisions', 'api', 'machinery/values', 'machinery/runtime'],
  scheduler: ['decisions', 'api', 'machinery/values', 'machinery/runtime'],
  nodes: ['decisions', 'api', 'machinery/values', 'machinery/runtime'],
  webhook: ['decisions', 'api', 'machinery/values', 'machinery/runtime'],
  'picker-sdk': [],
  app: [
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
  cli: ['app', 'decisions', 'api', 'machinery/values', 'machinery/runtime'],
  testkit: [
    'app',
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
    exclude: { path: '^src/dashboard/' },
  },
};
