import type { DisruptionLedger } from '../../api/quorate/types.ts';
import { keyOf } from '../../api/resource.ts';
import type { Ledgers } from '../../controllers/disruption/index.ts';
import type { Informer } from '../../machinery/runtime/index.ts';
import { isAtLeast } from '../../webhook/index.ts';

/**
 * The newest ledgers this process knows of: what it wrote itself, until the watch shows that or something newer.
 * Whoever writes on an older one only loses against itself.
 */
export function newestLedgers(ledgers: Informer<DisruptionLedger>): Ledgers {
  const written = new Map<string, DisruptionLedger>();
  const versionOf = ({ metadata }: DisruptionLedger): string => metadata.resourceVersion ?? '';
  const shown = (ledger: DisruptionLedger): void => {
    const own = written.get(keyOf(ledger));
    if (own !== undefined && isAtLeast(versionOf(ledger), versionOf(own))) written.delete(keyOf(ledger));
  };
  const forget = (ledger: DisruptionLedger): void => void written.delete(keyOf(ledger));
  ledgers.addHandler({ added: shown, updated: shown, deleted: forget });
  return {
    get: (namespace, name) => written.get(`${namespace}/${name}`) ?? ledgers.get({ namespace, name }),
    written(ledger) {
      const known = ledgers.get({ namespace: ledger.metadata.namespace, name: ledger.metadata.name ?? '' });
      if (known === undefined || !isAtLeast(versionOf(known), versionOf(ledger))) written.set(keyOf(ledger), ledger);
    },
    forget,
    follow: (changed) => void ledgers.addHandler({ added: changed, updated: changed, deleted: changed }),
    whenSynced: () => ledgers.whenSynced(),
  };
}
