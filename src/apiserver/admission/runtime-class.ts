/** Pods that name a runtime class get its overhead and scheduling rules; the class must exist. */
import type { RuntimeClass } from '../../api/generated/node-v1.ts';
import { deepEqual } from '../../machinery/values/index.ts';
import { type AdmissionPlugin, refusedName } from '../context/admission-plugin.ts';
import { forbidden } from '../exchange/status.ts';
import { readStored, type StoredReads } from '../stored/kind-view.ts';
import { isPodCreate, podOf, specOf } from './pods.ts';

const TYPE = { group: 'node.k8s.io', plural: 'runtimeclasses' };

export function runtimeClasses(reads: StoredReads): AdmissionPlugin {
  return {
    name: 'RuntimeClass',
    handles: (attributes) => isPodCreate(attributes),
    admit(attributes) {
      const spec = specOf(podOf(attributes));
      const refuse = (why: string) => forbidden(attributes.resource, refusedName(attributes), `pod rejected: ${why}`);
      const name = spec.runtimeClassName;
      if (!name) {
        if (spec.overhead !== undefined && Object.keys(spec.overhead).length > 0) {
          throw refuse('Pod Overhead set without corresponding RuntimeClass defined Overhead');
        }
        return;
      }
      const found = readStored<RuntimeClass>(reads, TYPE, undefined, name);
      if (found === undefined) throw refuse(`RuntimeClass "${name}" not found`);
      const overhead = found.overhead?.podFixed;
      if (overhead !== undefined) {
        if (spec.overhead !== undefined && !deepEqual(spec.overhead, overhead)) {
          throw refuse("Pod's Overhead doesn't match RuntimeClass's defined Overhead");
        }
        spec.overhead = { ...overhead };
      }
      for (const [key, value] of Object.entries(found.scheduling?.nodeSelector ?? {})) {
        const given = spec.nodeSelector?.[key];
        if (given !== undefined && given !== value) {
          throw refuse(
            `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${given}`,
          );
        }
        spec.nodeSelector = { ...spec.nodeSelector, [key]: value };
      }
      for (const toleration of found.scheduling?.tolerations ?? []) {
        if (!spec.tolerations?.some((held) => deepEqual(held, toleration))) {
          spec.tolerations = [...(spec.tolerations ?? []), { ...toleration }];
        }
      }
    },
  };
}
