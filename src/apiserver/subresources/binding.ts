/** `pods/binding`: assigns a pod to a node, once. */
import {
  deepClone,
  FieldPath,
  formatTime,
  invalid as invalidValue,
  isObject,
  required,
} from '../../machinery/values/index.ts';
import { type Call, nameOf } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { Subresource } from '../registry/subresource.ts';
import { bodyType, negotiate } from '../request/negotiate.ts';
import { encodeAnswer } from '../response/respond.ts';
import { badRequest, conflict, invalid } from '../exchange/status.ts';
import { admit, attributesOf, validateAdmission } from '../verbs/admit.ts';
import { optionsOf } from '../verbs/create.ts';
import { innerSubresource } from '../verbs/inner-subresource.ts';
import { updateObject } from '../verbs/update.ts';

const BINDING = { group: '', version: 'v1', kind: 'Binding' };

export const bindingSubresource: Subresource = innerSubresource({ verbs: ['create'], kind: { kind: 'Binding' } }, bind);

export async function bind(call: Call): Promise<ApiResponse> {
  const name = nameOf(call);
  const binding = readBinding(call, name);
  const attributes = attributesOf(call, {
    operation: 'CREATE',
    name,
    namespace: call.info.namespace,
    object: binding,
    oldObject: undefined,
    options: optionsOf(call, 'CreateOptions'),
    kind: BINDING,
  });
  await admit(call, attributes);
  await validateAdmission(call, attributes);
  const node = (binding['target'] as { name: string }).name;
  // Admission has seen the Binding; the change of the pod itself is the server's own and is not reviewed again.
  await updateObject(
    { ...call, context: { ...call.context, admission: [] } },
    {
      compute: (old) => bound(call, old, { binding, node, name }),
      rules: { protect: () => {}, validate: () => [], bumpsGeneration: false },
      optionsKind: 'UpdateOptions',
    },
  );
  const answer = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  return encodeAnswer(
    call,
    201,
    answer,
    negotiate(call.request.headers['accept'], { allowed: new Set(), protobuf: true }),
  );
}

function readBinding(call: Call, name: string): ApiObject {
  const { object } = call.context.codec.decode({
    bytes: call.request.body ?? new Uint8Array(),
    mediaType: bodyType(call.request.headers['content-type']),
    expected: { apiVersion: 'v1', kind: 'Binding' },
  });
  object.metadata ??= {};
  // kube-apiserver wants the name said in both places.
  if (object.metadata.name !== name) throw badRequest('name in URL does not match name in Binding object');
  const target = object['target'];
  const path = FieldPath.of('target');
  const kind = isObject(target) ? target['kind'] : undefined;
  const issues = [
    ...(kind !== undefined && kind !== '' && kind !== 'Node' && kind !== 'Minion'
      ? [invalidValue(path.child('kind'), kind, 'must be empty or "Node"')]
      : []),
    ...(isObject(target) && target['name'] ? [] : [required(path.child('name'))]),
  ];
  if (issues.length > 0) throw invalid({ group: '', kind: 'Binding' }, name, issues);
  return object;
}

interface PodSpec {
  nodeName?: string;
  schedulingGates?: unknown[];
}

interface Condition {
  type: string;
  status: string;
}

function bound(
  call: Call,
  old: ApiObject,
  { binding, node, name }: { binding: ApiObject; node: string; name: string },
): ApiObject {
  const spec = old['spec'] as PodSpec;
  const refuse = (why: string) => conflict({ group: '', plural: 'pods/binding', kind: 'Binding' }, name, why);
  if (binding.metadata.uid && binding.metadata.uid !== old.metadata.uid) {
    throw refuse(
      `Precondition failed: UID in precondition: ${binding.metadata.uid}, UID in object meta: ${old.metadata.uid}`,
    );
  }
  if (old.metadata.deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (spec.nodeName) throw refuse(`pod ${name} is already assigned to node "${spec.nodeName}"`);
  if ((spec.schedulingGates ?? []).length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  const pod = deepClone(old);
  delete pod.metadata.resourceVersion;
  (pod['spec'] as PodSpec).nodeName = node;
  const { annotations, labels } = binding.metadata;
  if (annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
  if (labels) pod.metadata.labels = { ...pod.metadata.labels, ...labels };
  const status = (pod['status'] ?? {}) as { conditions?: Condition[] };
  const others = (status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: formatTime(call.context.clock.now()),
    ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
  };
  pod['status'] = { ...status, conditions: [...others, scheduled] };
  return pod;
}
