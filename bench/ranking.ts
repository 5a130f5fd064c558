/** Ranking of 5,000 pods, of which half go. */
import type { Pod } from '../src/api/generated/core-v1.ts';
import { chooseVictims, rankByColocation } from '../src/decisions/downscale/index.ts';
import { formatTime, seededRandom } from '../src/machinery/values/index.ts';
import { median, report } from './report.ts';

const PODS = 5_000;
const NOW = Date.parse('2026-06-01T12:00:00Z');

function makePods(seed: number): Pod[] {
  const random = seededRandom(seed);
  const whole = (max: number): number => Math.floor(random() * max);
  const pods = Array.from({ length: PODS }, (_, index) => ({
    metadata: {
      name: `web-${index.toString(36)}`,
      uid: `${whole(1e9).toString(16)}-${index}`,
      creationTimestamp: formatTime(NOW - whole(1e9)),
      annotations: { 'controller.kubernetes.io/pod-deletion-cost': String(whole(3)) },
    },
    spec: { nodeName: `node-${whole(500)}`, containers: [{ name: 'main' }] },
    status: {
      phase: 'Running',
      conditions: [
        { type: 'PodScheduled', status: 'True' },
        {
          type: 'Ready',
          status: random() < 0.95 ? 'True' : 'False',
          lastTransitionTime: formatTime(NOW - whole(1e9)),
        },
      ],
      containerStatuses: [{ name: 'main', ready: true, restartCount: whole(4), image: '', imageID: '' }],
    },
  }));
  // As they come from an API server.
  return JSON.parse(JSON.stringify(pods)) as Pod[];
}

export function benchRanking(): void {
  const times: number[] = [];
  const processor: number[] = [];
  for (let round = 0; round < 40; round += 1) {
    const pods = makePods(round);
    const cpu = process.cpuUsage();
    const started = performance.now();
    const ranks = rankByColocation(pods);
    chooseVictims({ pods, count: PODS / 2, ranks, now: NOW });
    times.push(performance.now() - started);
    const { system, user } = process.cpuUsage(cpu);
    processor.push((user + system) / 1000);
  }
  const ms = median(times.slice(10));
  const cpuMs = median(processor.slice(10));
  report('downscale: rank 5,000 pods', `${ms.toFixed(1)} ms (${cpuMs.toFixed(1)} ms of processor)`, {
    target: 'under 10 ms',
    met: ms < 10,
  });
}
