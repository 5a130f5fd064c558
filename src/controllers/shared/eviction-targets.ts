/** Requests and Evictions by the very pod that they are about. */
import type { Eviction, EvictionRequest } from '../../api/generated/lifecycle-v1alpha1.ts';
import type { ObjectMetaCore } from '../../api/resource.ts';
import type { Informer } from '../../machinery/runtime/index.ts';

export const BY_TARGET = 'eviction-target';

/** The key of a target: namespace, name and uid of the pod. */
export const targetKey = ({ name, namespace = '', uid }: ObjectMetaCore): string =>
  `${namespace}/${name ?? ''}/${uid ?? ''}`;

/** The key of what a request or an Eviction is about; undefined where it names nothing. */
export function targetKeyOf({ metadata, spec }: Eviction | EvictionRequest): string | undefined {
  const pod = spec?.target?.pod;
  return pod === undefined ? undefined : targetKey({ ...pod, namespace: metadata.namespace });
}

export function indexByTarget(informer: Informer<Eviction> | Informer<EvictionRequest>): void {
  (informer as Informer<Eviction | EvictionRequest>).addIndex(BY_TARGET, (of) => {
    const key = targetKeyOf(of);
    return key === undefined ? [] : [key];
  });
}
