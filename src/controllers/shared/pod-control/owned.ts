import { controllerOf, type Owned } from '../../../api/core/owner.ts';
import type { KubeObject } from '../../../api/resource.ts';
import type { Informer } from '../../../machinery/runtime/index.ts';

const INDEX = 'by-controller';

/** Lets readers find what an owner controls without looking at the others. Call it before the informer is waited for. */
export function indexByController<T extends KubeObject & Owned>(informer: Informer<T>): Informer<T> {
  informer.addIndex(INDEX, (object) => [controllerOf(object)?.uid ?? orphanBucket(object.metadata.namespace)]);
  return informer;
}

/** Objects the owner controls, and those of its namespace that nobody does. Needs `indexByController`. */
export function ownedOrOrphaned<T extends KubeObject & Owned>(informer: Informer<T>, owner: KubeObject): T[] {
  return [
    ...informer.byIndex(INDEX, owner.metadata.uid ?? ''),
    ...informer.byIndex(INDEX, orphanBucket(owner.metadata.namespace)),
  ];
}

/** Objects the owner controls. Needs `indexByController`. */
export function ownedBy<T extends KubeObject & Owned>(informer: Informer<T>, owner: KubeObject): T[] {
  return informer.byIndex(INDEX, owner.metadata.uid ?? '');
}

const orphanBucket = (namespace: string | undefined): string => `orphans of ${namespace ?? ''}`;
