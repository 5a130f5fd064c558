import { findBinaries } from '../../test/kubernetes/binaries.ts';
import { report } from '../report.ts';
import { measureDecisions } from './decision.ts';
import { startEmbeddedHost, startKubernetesHost } from './hosts.ts';
import { type Lap, runLap } from './race.ts';

const OPTIONS = { nodes: 5000, gangs: 1250, size: 8 };
const DECISION_MS = 20;
const TIMES_FASTER = 2;

/** One group decision at 5,000 nodes, and 10,000 pods in gangs of 8 on Quorate and, where it is built, on Kubernetes. */
export async function benchScheduling(options = OPTIONS): Promise<void> {
  const { gangs, nodes, size } = options;
  const { cpuP99Ms, medianMs, p99Ms } = measureDecisions(options);
  report(
    `group of ${size}, ${nodes} nodes: one decision`,
    `median ${medianMs.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms (${cpuP99Ms.toFixed(2)} ms of processor)`,
    {
      target: `under ${DECISION_MS} ms`,
      met: p99Ms < DECISION_MS,
    },
  );
  const what = `${gangs * size} pods in gangs of ${size}, ${nodes} nodes`;
  const tell = ({ cpuSeconds, host, podsPerSecond, seconds }: Lap): void =>
    report(
      `${what}: ${host}`,
      `${podsPerSecond} pods/s (${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of processor)`,
    );
  const ours = await runLap(await startEmbeddedHost(), options);
  tell(ours);
  if (findBinaries('1.36', ['etcd', 'kube-apiserver', 'kube-scheduler', 'kubectl']) === undefined) return;
  const theirs = await runLap(await startKubernetesHost(), options);
  tell(theirs);
  const rate = ours.podsPerSecond / theirs.podsPerSecond;
  const cpu = theirs.cpuSeconds / ours.cpuSeconds;
  report(`${what}: ratio`, `${rate.toFixed(2)} by rate, ${cpu.toFixed(2)} by processor time`, {
    target: `${TIMES_FASTER} times the rate of kube-scheduler`,
    met: rate >= TIMES_FASTER,
  });
}
