/**
 * Keeps a website spread over its regions: each pod to go is taken from the region that has the most left, the least
 * busy pod of it first. In a project of your own, import from 'quorate/picker'.
 */
import { createPodPicker } from '../../src/picker-sdk/index.ts';
import { auth, type Report, serve } from './reports.ts';

const reports = new Map<string, Report>();

function chooseSpread(candidates: readonly string[], count: number): string[] {
  const byRegion = new Map<string, string[]>();
  for (const pod of candidates) {
    const region = reports.get(pod)?.region ?? '';
    byRegion.set(region, [...(byRegion.get(region) ?? []), pod]);
  }
  const load = (pod: string): number => reports.get(pod)?.load ?? 0;
  for (const pods of byRegion.values()) pods.sort((a, b) => load(a) - load(b));
  const chosen: string[] = [];
  while (chosen.length < count) {
    const [fullest] = [...byRegion.values()].sort((a, b) => b.length - a.length);
    const pod = fullest?.shift();
    if (pod === undefined) break;
    chosen.push(pod);
  }
  return chosen;
}

const picker = createPodPicker(({ candidates, count }) => ({ chosen: chooseSpread(candidates, count) }), auth());

serve(picker.handler, reports);
