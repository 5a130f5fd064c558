/** Kubeconfig files, as clients of the embedded control plane read them. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { stringify } from 'yaml';
import { writePrivateFile } from './pki.ts';

export interface KubeconfigContent {
  /** `https://127.0.0.1:6443`. */
  readonly server: string;
  /** PEM; left out for plain HTTP. */
  readonly authority?: string;
  readonly user:
    | { readonly name: string; readonly certificate: string; readonly key: string }
    | { readonly name: string; readonly token: string };
  readonly namespace?: string;
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

export function formatKubeconfig({ server, authority, user, namespace }: KubeconfigContent): string {
  const cluster = 'quorate';
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: cluster,
          cluster: { server, ...(authority !== undefined && { 'certificate-authority-data': base64(authority) }) },
        },
      ],
      users: [
        {
          name: user.name,
          user:
            'token' in user
              ? { token: user.token }
              : { 'client-certificate-data': base64(user.certificate), 'client-key-data': base64(user.key) },
        },
      ],
      contexts: [
        { name: cluster, context: { cluster, user: user.name, ...(namespace !== undefined && { namespace }) } },
      ],
      'current-context': cluster,
    },
    { lineWidth: 0 },
  );
}

/** Writes the file for its owner only, making the folders it needs. */
export function writeKubeconfig(path: string, options: KubeconfigContent): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writePrivateFile(path, formatKubeconfig(options));
}
