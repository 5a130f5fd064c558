/** Prepares a server for the fuzzer: a namespace for each lane, and tokens of three service accounts with other rights. */
import https from 'node:https';
import { discover, type Resource } from './resources.ts';
import type { Identity } from './requests.ts';

/** How to be the administrator of a server. */
export interface Door {
  readonly host: string;
  readonly port: number;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

export interface Staged {
  readonly resources: readonly Resource[];
  /** Value of the `authorization` header; undefined for who has none. */
  authorization(identity: Identity, lane: number): string | undefined;
}

export const namespaceOf = (lane: number): string => `fuzz-${lane}`;

const HOME = 'fuzz';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const WEEK_SECONDS = 604_800;

export async function stage(door: Door, lanes: number): Promise<Staged> {
  const make = (path: string, object: object): Promise<unknown> => ask(door, 'POST', path, object);
  const tokenOf = async (namespace: string, name: string): Promise<string> => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await make(path, { metadata: { name } });
    const answer = await make(`${path}/${name}/token`, { spec: { expirationSeconds: WEEK_SECONDS } });
    return (answer as { status: { token: string } }).status.token;
  };
  const bind = (path: string, role: string, namespace: string, name: string): Promise<unknown> =>
    make(path, {
      metadata: { name: `${namespace}-${name}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    });
  await make('/api/v1/namespaces', { metadata: { name: HOME } });
  const nobody = await tokenOf(HOME, 'nobody');
  const admin = await tokenOf(HOME, 'admin');
  await bind(`${RBAC}/clusterrolebindings`, 'cluster-admin', HOME, 'admin');
  const own: string[] = [];
  for (let lane = 0; lane < lanes; lane += 1) {
    const namespace = namespaceOf(lane);
    await make('/api/v1/namespaces', { metadata: { name: namespace } });
    own.push(await tokenOf(HOME, namespace));
    // The role `admin` is a sum that a controller makes, and no controllers run here.
    await bind(`${RBAC}/namespaces/${namespace}/rolebindings`, 'cluster-admin', HOME, namespace);
  }
  const resources = await discover((path) => ask(door, 'GET', path));
  return {
    resources,
    authorization(identity, lane) {
      switch (identity) {
        case 'admin':
          return `Bearer ${admin}`;
        case 'nobody':
          return `Bearer ${nobody}`;
        case 'namespace-admin':
          return `Bearer ${own[lane]}`;
        case 'forged':
          return `Bearer ${admin.slice(0, -6)}AAAAAA`;
        default:
          return undefined;
      }
    },
  };
}

function ask({ cert, host, key, port, token }: Door, method: string, path: string, object?: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(object !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const sent = https.request(
      { host, port, method, path, headers, cert, key, rejectUnauthorized: false },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => {
          if ((answer.statusCode ?? 0) < 300) resolve(JSON.parse(text));
          else reject(new Error(`Cannot prepare the server: ${method} ${path}: ${answer.statusCode} ${text}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(object === undefined ? undefined : JSON.stringify(object));
  });
}
