/** The way through an HTTP proxy, as kubeconfigs and the usual variables name it. */
import { BlockList, isIP } from 'node:net';
import { KubeconfigError } from './kubeconfig-entry.ts';

/** The proxy to reach a server by; undefined where it is reached directly. What the kubeconfig says goes first. */
export function proxyFor(server: string, configured: string | undefined, env: NodeJS.ProcessEnv): URL | undefined {
  const url = new URL(server);
  if (configured) return parse(configured, 'proxy-url');
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = env[name] || env[name.toLowerCase()];
  if (!value || isDirect(url, env['NO_PROXY'] || env['no_proxy'] || '')) return undefined;
  return parse(value.includes('://') ? value : `http://${value}`, name);
}

function parse(value: string, from: string): URL {
  if (!URL.canParse(value)) throw new KubeconfigError(`Cannot use ${from} "${value}": it is not a URL`);
  const url = new URL(value);
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw new KubeconfigError(
    `Cannot use ${from} "${value}": proxies of kind ${url.protocol.slice(0, -1)} are not understood, http and https are`,
  );
}

/** Whether NO_PROXY takes the server out. This machine itself is never reached by a proxy. */
function isDirect(url: URL, noProxy: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host.startsWith('127.') || host === '::1') return true;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return noProxy.split(',').some((item) => covers(item.trim().toLowerCase(), { host, port }));
}

function covers(rule: string, { host, port }: { host: string; port: string }): boolean {
  if (rule === '') return false;
  if (rule === '*') return true;
  const [address = '', bits] = rule.split('/');
  if (bits !== undefined) {
    const family = isIP(address);
    if (family === 0 || isIP(host) !== family) return false;
    const kind = family === 4 ? 'ipv4' : 'ipv6';
    const list = new BlockList();
    list.addSubnet(address, Number(bits), kind);
    return list.check(host, kind);
  }
  if (isIP(rule) !== 0) return host === rule;
  const [, name = '', only = port] = /^(.*?)(?::(\d+))?$/.exec(rule) ?? [];
  if (only !== port) return false;
  const plain = name.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return host === plain;
  // With a dot before it, a domain is all that is below it and not itself.
  const domain = plain.replace(/^\*?\./, '');
  return host.endsWith(`.${domain}`) || (host === domain && domain === plain);
}
