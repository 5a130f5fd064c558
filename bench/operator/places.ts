import { namespaceType } from '../../src/api/resource-types.ts';
import type { Client } from '../../src/machinery/runtime/index.ts';
import { IGNORE_LABEL } from '../../src/webhook/index.ts';
import { BARE_LABEL } from './bare-webhook.ts';
import { namespaceOf, NAMESPACES } from './seed.ts';

/** Numbers of namespaces. */
const every = (step: number, from: number): number[] =>
  Array.from({ length: Math.ceil((NAMESPACES - from) / step) }, (_, at) => from + at * step);
/** Those whose requests go through our webhook, through one that admits everything, and past both. */
export const PLACES = { guarded: every(2, 0), bare: every(4, 1), past: every(4, 3) };
export type Side = keyof typeof PLACES;
export const SIDES: readonly Side[] = ['past', 'bare', 'guarded'];

/** Opts out of ours: those of the bare webhook, or also those that go past both. */
export async function setApart(client: Client, sides: readonly Exclude<Side, 'guarded'>[]): Promise<void> {
  for (const side of sides) {
    const labels = { [IGNORE_LABEL]: 'true', ...(side === 'bare' && { [BARE_LABEL]: 'true' }) };
    for (const at of PLACES[side]) {
      await client.patch(namespaceType, { name: namespaceOf(at) }, { type: 'merge', body: { metadata: { labels } } });
    }
  }
}
