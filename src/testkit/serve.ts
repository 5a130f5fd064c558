import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiHandler, listen, openPki, type Pki, writeKubeconfig } from '../apiserver/index.ts';
import { systemClock } from '../machinery/runtime/index.ts';

const ADDRESS = '127.0.0.1';

/** Where real clients reach a test plane. */
export interface Served {
  readonly url: string;
  /** File for `KUBECONFIG`, with the rights of the administrator. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** Certificates by the wall clock: real clients check them by theirs, whatever the plane takes the time to be. */
export const openTestPki = (): Promise<Pki> => openPki({ clock: systemClock, hosts: [ADDRESS] });

/** Opens a port on loopback for a plane that was made with these certificates. */
export async function serve(handle: ApiHandler, { pki, port }: { pki: Pki; port: number }): Promise<Served> {
  const { authority, server: pair } = pki;
  const tls = { certificate: pair.certificate, key: pair.key, authority: authority.certificate };
  const listening = await listen({ handle, port, address: ADDRESS, tls });
  const folder = mkdtempSync(join(tmpdir(), 'quorate-testkit-'));
  const url = `https://${ADDRESS}:${listening.port}`;
  const kubeconfig = join(folder, 'kubeconfig');
  writeKubeconfig(kubeconfig, {
    server: url,
    authority: authority.certificate,
    user: { name: 'admin', certificate: pki.admin.certificate, key: pki.admin.key },
  });
  return {
    url,
    kubeconfig,
    async close() {
      await listening.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
