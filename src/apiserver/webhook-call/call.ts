/** One call of a webhook: HTTPS with the CA of its configuration, one JSON document there and one back. */
import { Agent, request as httpsRequest } from 'node:https';
import { createHash } from 'node:crypto';
import type { WebhookClientConfig } from '../../api/generated/admissionregistration-v1.ts';
import type { Clock } from '../../machinery/runtime/index.ts';
import type { StoredReads } from '../stored/kind-view.ts';
import { type Address, addressOf, isAddress, type NoAddress, type ServicePort } from './service-address.ts';

export class WebhookCallError extends Error {
  override name = 'WebhookCallError';
}

interface Target {
  readonly url: URL;
  /** Where to connect when it is not the host of the URL. */
  readonly address?: Address;
}

const MAX_AGENTS = 64;
const MAX_ANSWER_BYTES = 3 * 1024 * 1024;

export class WebhookCaller {
  readonly #reads: StoredReads;
  readonly #clock: Clock;
  /** By CA, so that connections are kept between calls. */
  readonly #agents = new Map<string, Agent>();

  constructor(reads: StoredReads, clock: Clock) {
    this.#reads = reads;
    this.#clock = clock;
  }

  stop(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  /** Throws WebhookCallError with a message that names the URL. */
  async post(config: WebhookClientConfig, timeoutSeconds: number, document: object): Promise<unknown> {
    const target = this.#resolve(config);
    target.url.searchParams.set('timeout', `${timeoutSeconds}s`);
    const { status, body } = await this.#send(target, config.caBundle, timeoutSeconds, JSON.stringify(document));
    const fail = (why: string) => new WebhookCallError(why);
    let answer: unknown;
    try {
      answer = JSON.parse(body);
    } catch {
      answer = undefined;
    }
    if (status < 200 || status >= 300) {
      const message = (answer as { message?: unknown } | undefined)?.message;
      throw fail(typeof message === 'string' ? message : `the server answered with status ${status}`);
    }
    if (answer === undefined) throw fail(`Post "${target.url.href}": the answer is not JSON`);
    return answer;
  }

  #resolve({ url, service }: WebhookClientConfig): Target {
    if (url !== undefined) return { url: new URL(url) };
    if (service === undefined) throw new WebhookCallError('neither url nor service is set');
    const { namespace, name, path = '', port = 443 } = service;
    const target = new URL(`https://${name}.${namespace}.svc:${port}`);
    target.pathname = path;
    const address = addressOf(this.#reads, { namespace, name, port });
    if (isAddress(address)) return { url: target, address };
    throw new WebhookCallError(`Post "${target.href}": ${whyNot(address.problem, { namespace, name, port })}`);
  }

  #agentFor(caBundle: string | undefined): Agent {
    const key = caBundle === undefined ? '' : createHash('sha256').update(caBundle).digest('base64');
    let agent = this.#agents.get(key);
    if (agent === undefined) {
      const ca = caBundle ? Buffer.from(caBundle, 'base64').toString('utf8') : undefined;
      agent = new Agent({ keepAlive: true, ...(ca !== undefined && { ca }) });
      const [oldest] = this.#agents.keys();
      if (this.#agents.size >= MAX_AGENTS && oldest !== undefined) {
        this.#agents.get(oldest)?.destroy();
        this.#agents.delete(oldest);
      }
      this.#agents.set(key, agent);
    }
    return agent;
  }

  #send(
    { url, address }: Target,
    caBundle: string | undefined,
    timeoutSeconds: number,
    payload: string,
  ): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const fail = (why: string): void => {
        cancel();
        call.destroy();
        reject(new WebhookCallError(`Post "${url.href}": ${why}`));
      };
      const call = httpsRequest(
        {
          method: 'POST',
          agent: this.#agentFor(caBundle),
          host: address?.host ?? url.hostname.replace(/^\[|\]$/g, ''),
          port: address?.port ?? (url.port === '' ? 443 : Number(url.port)),
          servername: address === undefined ? undefined : url.hostname,
          path: `${url.pathname}${url.search}`,
          headers: {
            host: url.host,
            'content-type': 'application/json',
            accept: 'application/json, */*',
            'content-length': Buffer.byteLength(payload),
            'user-agent': 'kube-apiserver-admission',
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          let size = 0;
          response.on('data', (chunk: Buffer) => {
            size += chunk.length;
            if (size > MAX_ANSWER_BYTES) fail('the answer is too large');
            else chunks.push(chunk);
          });
          response.on('error', (error) => fail(error.message));
          response.on('end', () => {
            cancel();
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') });
          });
        },
      );
      const cancel = this.#clock.after(timeoutSeconds * 1000, () => fail('context deadline exceeded'));
      call.on('error', (error) => fail(error.message));
      call.end(payload);
    });
  }
}

function whyNot(problem: NoAddress['problem'], { name, namespace, port }: ServicePort): string {
  if (problem === 'no-service') return `service "${name}" not found`;
  if (problem === 'no-port') return `service "${name}" has no port ${port}`;
  return problem === 'simulated-pods'
    ? `no route to the pods of service "${namespace}/${name}": pods of this control plane are simulated; set clientConfig.url, or give the service no selector and an EndpointSlice with the address of the webhook`
    : `no endpoints available for service "${name}"`;
}
