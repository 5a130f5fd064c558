/** What the page may change where it was started with writes: each by the session user's own rights. */
import { type Maintenance, maintenanceType } from '../../api/quorate/maintenance.ts';
import { UI_HEADER } from '../../api/ui/stream.ts';

const { group, plural, version } = maintenanceType;
const MAINTENANCES = `k8s/apis/${group}/${version}/${plural}`;

async function send(method: 'POST' | 'PATCH', path: string, body: object): Promise<unknown> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = { [UI_HEADER]: '1', 'content-type': type };
  const response = await fetch(path, { method, headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(messageOf(text) ?? `The server answered with ${response.status}.`);
  return JSON.parse(text);
}

/** A refusal of the API server is a Status; one of the page's own server is plain text. */
function messageOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { message?: string }).message;
  } catch {
    return text === '' ? undefined : text;
  }
}

export async function cordon(nodes: readonly string[], on: boolean): Promise<void> {
  for (const node of nodes) {
    await send('PATCH', `k8s/api/v1/nodes/${encodeURIComponent(node)}`, { spec: { unschedulable: on } });
  }
}

/** Makes a Maintenance, which goes on when the page is closed; returns its name. */
export async function startDrain(nodes: readonly string[], nodesReturn: boolean): Promise<string> {
  const made = (await send('POST', MAINTENANCES, {
    apiVersion: `${group}/${version}`,
    kind: maintenanceType.kind,
    metadata: { generateName: 'drain-' },
    spec: { nodes: { names: nodes }, nodesReturn, reason: 'started on the dashboard' },
  })) as Maintenance;
  return made.metadata.name ?? '';
}

export async function pause(name: string, on: boolean): Promise<void> {
  await send('PATCH', `${MAINTENANCES}/${encodeURIComponent(name)}`, { spec: { paused: on } });
}
