import { isFinished, type Maintenance, maintenanceType } from '../../api/quorate/maintenance.ts';
import { type Client, isNotFound, listAll, sleep, systemClock } from '../../machinery/runtime/index.ts';
import { openCluster } from '../shared/cluster.ts';
import { failWith } from '../shared/fail.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { formatOutput, type OutputFormat } from '../shared/output.ts';
import { describeMaintenance, listMaintenances, nameForKubectl, tellMaintenance } from './text.ts';

export type ChangeFlags = ClusterFlags;

export interface ListFlags extends ClusterFlags {
  readonly output: OutputFormat;
}

export interface ShowFlags extends ListFlags {
  readonly watch?: boolean;
}

const LOOK_EVERY_MS = 2000;
const NOT_DONE = 2;

async function onCluster(
  verb: string,
  flags: ClusterFlags,
  work: (client: Client) => Promise<number>,
): Promise<number> {
  try {
    const cluster = openCluster(flags);
    // A wait between two looks must keep the process alive, which clock timers on purpose do not.
    const alive = setInterval(() => {}, 60_000);
    try {
      return await work(cluster.client);
    } finally {
      clearInterval(alive);
      cluster.close();
    }
  } catch (error) {
    return failWith(`maintenance ${verb}`, error);
  }
}

export function runList(flags: ListFlags): Promise<number> {
  return onCluster('list', flags, async (client) => {
    const all = (await listAll(client, maintenanceType, undefined)).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    process.stdout.write(formatOutput(all, listMaintenances(all, Date.now()), flags.output));
    return 0;
  });
}

const nameOf = ({ metadata }: Maintenance): string => metadata.name ?? '';

export function runShow(name: string, flags: ShowFlags): Promise<number> {
  return onCluster('show', flags, async (client) => {
    const found = await read(client, name);
    process.stdout.write(
      formatOutput(
        found,
        { text: describeMaintenance(found, Date.now()), wide: [], names: [nameForKubectl(found)] },
        flags.output,
      ),
    );
    return flags.watch === true ? follow(client, found) : 0;
  });
}

/** One line for each change that a person wants to hear of. */
async function follow(client: Client, first: Maintenance): Promise<number> {
  let [seen, last] = [first, tellMaintenance(first)];
  while (!isFinished(seen)) {
    await sleep(systemClock, LOOK_EVERY_MS);
    seen = await read(client, nameOf(first));
    const now = tellMaintenance(seen);
    if (now !== last) process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${now}\n`);
    last = now;
  }
  return seen.status?.phase === 'Done' ? 0 : NOT_DONE;
}

async function read(client: Client, name: string): Promise<Maintenance> {
  try {
    return await client.get(maintenanceType, { name });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new Error(`no maintenance "${name}"; quorate maintenance list shows those there are`, { cause: error });
  }
}

const CHANGES = {
  pause: { spec: { paused: true }, text: 'is paused: no further step starts until quorate maintenance resume' },
  resume: { spec: { paused: false }, text: 'is resumed' },
  cancel: { spec: { cancelled: true }, text: 'is cancelled: its nodes are being released' },
} as const;

export function runChange(verb: keyof typeof CHANGES, name: string, flags: ChangeFlags): Promise<number> {
  return onCluster(verb, flags, async (client) => {
    const { spec, text } = CHANGES[verb];
    await read(client, name);
    await client.patch(maintenanceType, { name }, { type: 'merge', body: { spec } });
    process.stdout.write(`maintenance ${name} ${text}\n`);
    return 0;
  });
}
