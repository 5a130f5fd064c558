import { MAINTENANCE_PHASES, type Maintenance } from '../../../api/quorate/maintenance.ts';
import type { Informer, Metrics } from '../../../machinery/runtime/index.ts';
import type { CountBlocked } from './deps.ts';

/** How many Maintenances there are, by phase, and how long they are blocked. */
export function countMaintenances(metrics: Metrics, maintenances: Informer<Maintenance>): CountBlocked {
  metrics.countedGauge('quorate_maintenances', () => {
    const counts = new Map<string, number>(MAINTENANCE_PHASES.map((phase) => [phase, 0]));
    for (const { status } of maintenances.list()) {
      const phase = status?.phase ?? 'Pending';
      counts.set(phase, (counts.get(phase) ?? 0) + 1);
    }
    return [...counts].map(([phase, count]) => [{ phase }, count]);
  });
  const blocked = metrics.counter('quorate_maintenance_blocked_seconds_total');
  return (memory, phase, now) => {
    if (memory.blockedUntil !== undefined) blocked.inc(Math.max(0, now - memory.blockedUntil) / 1000);
    memory.blockedUntil = phase === 'Blocked' ? now : undefined;
  };
}
