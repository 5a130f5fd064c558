/** `pods/ephemeralcontainers` and `pods/resize`: the two ways to change what the pod itself does not let change. */
import { requestsWithinLimits } from '../../api/core/resource-limits.ts';
import type { Pod, PodSpec } from '../../api/generated/core-v1.ts';
import {
  deepClone,
  FieldPath,
  forbidden,
  invalid as invalidValue,
  type Issue,
  required,
  semanticEqual,
} from '../../machinery/values/index.ts';
import type { Call } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { Subresource } from '../registry/subresource.ts';
import { respondWithWritten } from '../verbs/create.ts';
import { get } from '../verbs/get.ts';
import { innerSubresource } from '../verbs/inner-subresource.ts';
import { patchObject } from '../verbs/patch.ts';
import { copyField, type UpdateRules, updatePart } from '../verbs/update.ts';

const asPod = (object: ApiObject): Pod => object as Pod;

export const ephemeralContainersSubresource = partSubresource({
  protect(object, old) {
    const { ephemeralContainers } = asPod(object).spec ?? { containers: [] };
    keepAllButSpec(object, old, (spec) => {
      if (ephemeralContainers === undefined) delete spec.ephemeralContainers;
      else spec.ephemeralContainers = ephemeralContainers;
    });
  },
  validate(object, old) {
    const now = asPod(object).spec?.ephemeralContainers ?? [];
    const path = FieldPath.of('spec', 'ephemeralContainers');
    const issues: Issue[] = [];
    const taken = new Set((asPod(object).spec?.containers ?? []).map(({ name }) => name));
    now.forEach((container, index) => {
      if (!container.name) issues.push(required(path.index(index).child('name')));
      if (!container.image) issues.push(required(path.index(index).child('image')));
      if (taken.has(container.name)) {
        issues.push(invalidValue(path.index(index).child('name'), container.name, 'must be unique among containers'));
      }
      taken.add(container.name);
    });
    const kept = (asPod(old).spec?.ephemeralContainers ?? []).every((before) =>
      now.some((container) => container.name === before.name && semanticEqual(container, before)),
    );
    if (!kept) issues.push(forbidden(path, 'existing ephemeral containers may not be removed or changed'));
    return issues;
  },
  bumpsGeneration: true,
});

export const resizeSubresource = partSubresource({
  protect(object, old) {
    const asked = asPod(object).spec;
    keepAllButSpec(object, old, (spec) => {
      for (const list of ['containers', 'initContainers'] as const) {
        for (const container of spec[list] ?? []) {
          const same = asked?.[list]?.find(({ name }) => name === container.name);
          if (same?.resources !== undefined) container.resources = same.resources;
          if (same?.resizePolicy !== undefined) container.resizePolicy = same.resizePolicy;
        }
      }
    });
  },
  validate(object, old) {
    const issues: Issue[] = [];
    (asPod(object).spec?.containers ?? []).forEach((container, index) => {
      const path = FieldPath.of('spec', 'containers').index(index).child('resources');
      const { requests = {}, limits = {} } = container.resources ?? {};
      issues.push(...requestsWithinLimits(container.resources, path));
      const before = asPod(old).spec?.containers?.[index]?.resources;
      for (const name of Object.keys({ ...requests, ...limits })) {
        if (name === 'cpu' || name === 'memory') continue;
        if (before?.requests?.[name] !== requests[name] || before?.limits?.[name] !== limits[name]) {
          issues.push(forbidden(path, 'only cpu and memory resources are mutable'));
        }
      }
    });
    return issues;
  },
  bumpsGeneration: true,
});

/** Everything is as it was except what `change` puts into a copy of the old spec. */
function keepAllButSpec(object: ApiObject, old: ApiObject, change: (spec: PodSpec) => void): void {
  const spec = deepClone(asPod(old).spec ?? { containers: [] });
  change(spec);
  object['spec'] = spec;
  copyField(object, old, 'status');
}

function partSubresource(rules: UpdateRules): Subresource {
  return innerSubresource({ verbs: ['get', 'patch', 'update'], kind: { kind: 'Pod' } }, (call) => run(call, rules));
}

async function run(call: Call, rules: UpdateRules): Promise<ApiResponse> {
  if (call.info.verb === 'get') return get(call);
  if (call.info.verb === 'patch') {
    const { status, written } = await patchObject(call, rules);
    return respondWithWritten(call, status, written);
  }
  return updatePart(call, rules);
}
