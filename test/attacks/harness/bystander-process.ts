/** The process behind bystander.ts. */
import https from 'node:https';
import type { Waits } from './bystander.ts';
import type { Access } from './server.ts';

const PAUSE_MS = 5;
const PATH = '/api/v1/namespaces/default';

let taken: number[] = [];
let failures = 0;
/** When the read under way was begun: one that takes as long as the attack counts as well. */
let begun: number | undefined;

function read({ ca, cert, host, key, port }: Access, agent: https.Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = https.get({ host, port, path: PATH, agent, ca, cert, key }, (response) => {
      response.resume();
      response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error('not served'))));
      response.on('error', reject);
    });
    call.on('error', reject);
  });
}

async function readOn(access: Access): Promise<never> {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  for (;;) {
    begun = performance.now();
    try {
      await read(access, agent);
      taken.push(performance.now() - begun);
    } catch {
      failures++;
    }
    begun = undefined;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

function look(): Waits {
  const sorted = [...taken, ...(begun === undefined ? [] : [performance.now() - begun])].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const waits = { answers: taken.length, failures, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: sorted.at(-1) ?? 0 };
  taken = [];
  failures = 0;
  return waits;
}

process.on('message', (message: Access | 'waits') => {
  if (message === 'waits') process.send?.(look());
  else void readOn(message);
});
process.on('disconnect', () => process.exit());
