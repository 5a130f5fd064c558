/**
 * Keeps the APIServices: those of what is served here are there, and every one says whether its server can be asked. Looks
 * again when APIServices, Services, endpoints or what is served change, and every 30 s where there are other servers.
 */
import type { APIService } from '../../api/generated/apiregistration-v1.ts';
import { builtinType } from '../../api/registry.ts';
import type { ResourceType } from '../../api/resource.ts';
import { type Client, isAlreadyExists, isConflict, isNotFound } from '../../machinery/runtime/index.ts';
import { formatTime } from '../../machinery/values/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import { type Aggregator, REGISTRATION_GROUP } from './aggregator.ts';
import { checkServer, LOCAL, type Availability } from './availability.ts';
import { localApiServices, MANAGED } from './local-services.ts';

const LOOK_EVERY_MS = 30_000;
const AVAILABLE = 'Available';
const type = builtinType('APIService', REGISTRATION_GROUP) as ResourceType<APIService>;

export interface KeptApiServices {
  /** Resolves when everything that is known now has been looked at. */
  look(): Promise<void>;
  stop(): void;
}

type Tools = Pick<ServerContext, 'clock' | 'log' | 'registry' | 'store'>;

export function keepApiServices(client: Client, aggregator: Aggregator, tools: Tools): KeptApiServices {
  const { clock, log, registry, store } = tools;
  let isStopped = false;
  let isFirst = true;
  let running: Promise<void> | undefined;
  let again = false;
  let cancel = (): void => {};

  const pass = async (): Promise<void> => {
    await keepLocal(client, aggregator, { wanted: localApiServices(registry), isFirst });
    isFirst = false;
    for (const apiService of aggregator.apiServices()) {
      if (apiService.spec?.service === undefined) await say(client, apiService, LOCAL, clock.now());
    }
    await Promise.all(
      [...aggregator.servers()].map(async (server) => {
        const { document, verdict } = await checkServer(server, clock);
        aggregator.learn(server.remote, document);
        await say(client, server.apiService, verdict, clock.now());
      }),
    );
  };
  const look = (): Promise<void> => {
    if (running !== undefined) {
      again = true;
      return running;
    }
    cancel();
    running = (async () => {
      do {
        again = false;
        await pass().catch((error: unknown) => log.error({ err: error }, 'cannot keep APIServices'));
      } while (again && !isStopped);
      running = undefined;
      if (!isStopped) cancel = clock.after(LOOK_EVERY_MS, wake);
    })();
    return running;
  };
  const wake = (): void => {
    if (!isStopped) void look();
  };
  aggregator.onChange(wake);
  const whereOthers = (): void => {
    if ([...aggregator.servers()].length > 0) wake();
  };
  const stops = [
    registry.onChange(wake),
    ...[registry.byPlural('', 'services'), registry.byPlural('discovery.k8s.io', 'endpointslices')].map((resource) =>
      resource === undefined ? () => {} : store.watch(resource.prefix, store.revision, whereOthers),
    ),
  ];
  return {
    look,
    stop() {
      isStopped = true;
      cancel();
      for (const stop of stops) stop();
    },
  };
}

/** Those of Kubernetes' own groups are made at the start only; those of definitions come and go with them. */
async function keepLocal(
  client: Client,
  aggregator: Aggregator,
  { isFirst, wanted }: { readonly wanted: readonly APIService[]; readonly isFirst: boolean },
): Promise<void> {
  const known = new Map([...aggregator.apiServices()].map((one) => [one.metadata.name ?? '', one]));
  const managed = ({ metadata }: APIService): string | undefined => metadata.labels?.[MANAGED];
  const missing = wanted.filter((one) => !known.has(one.metadata.name ?? '') && (isFirst || managed(one) === 'true'));
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const left = [...known.values()].filter((one) => managed(one) !== undefined && !names.has(one.metadata.name));
  await Promise.all([
    ...missing.map((one) => client.create(type, one).catch(unless(isAlreadyExists))),
    ...left.map(({ metadata: { name = '' } }) => client.delete(type, { name }).catch(unless(isNotFound))),
  ]);
}

const unless =
  (expected: (error: unknown) => boolean) =>
  (error: unknown): void => {
    if (!expected(error)) throw error;
  };

async function say(client: Client, apiService: APIService, verdict: Availability, now: number): Promise<void> {
  const { name = '', resourceVersion } = apiService.metadata;
  const conditions = apiService.status?.conditions ?? [];
  const before = conditions.find((condition) => condition.type === AVAILABLE);
  const { message, reason, status } = verdict;
  if (before?.status === status && before.reason === reason && before.message === message) return;
  const time = before?.status === status ? before.lastTransitionTime : undefined;
  const condition = { type: AVAILABLE, ...verdict, lastTransitionTime: time ?? formatTime(now) };
  const others = conditions.filter((one) => one.type !== AVAILABLE);
  const body = { metadata: { resourceVersion }, status: { conditions: [...others, condition] } };
  // What changed meanwhile is looked at again at once.
  await client
    .patch(type, { name }, { type: 'merge', body }, { subresource: 'status' })
    .catch(unless((error) => isConflict(error) || isNotFound(error)));
}
