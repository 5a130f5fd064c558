/** What the plugins for pods share. */
import type { Pod } from '../../api/generated/core-v1.ts';
import type { AdmissionAttributes } from '../context/admission-plugin.ts';

export const isPodCreate = ({ resource, operation, subresource }: AdmissionAttributes): boolean =>
  resource.group === '' && resource.plural === 'pods' && operation === 'CREATE' && subresource === undefined;

export const isPodWrite = ({ resource, operation, subresource }: AdmissionAttributes): boolean =>
  resource.group === '' &&
  resource.plural === 'pods' &&
  (operation === 'CREATE' || operation === 'UPDATE') &&
  subresource === undefined;

export const podOf = ({ object }: AdmissionAttributes): Pod => object as Pod;

export type PodSpec = NonNullable<Pod['spec']>;

/** The spec, present from here on: a pod without one is refused by validation later. */
export function specOf(pod: Pod): PodSpec {
  pod.spec ??= { containers: [] };
  return pod.spec;
}
