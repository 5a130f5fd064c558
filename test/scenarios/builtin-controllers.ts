/**
 * What the small built-in controllers do, told through the API alone: the same suite runs against the embedded server
 * and against the real one.
 */
import { expect, test } from 'vitest';
import type { Namespace, Pod, Service } from '../../src/api/generated/core-v1.ts';
import type { ObjectMeta, OwnerReference } from '../../src/api/generated/meta-v1.ts';
import { builtinType } from '../../src/api/registry.ts';
import type { KubeObject, ResourceType } from '../../src/api/resource.ts';
import {
  configMapType,
  endpointSliceType,
  endpointsType,
  namespaceType,
  podType,
  resourceQuotaType,
  serviceAccountType,
  serviceType,
} from '../../src/api/resource-types.ts';
import { type Client, isNotFound } from '../../src/machinery/runtime/index.ts';

export interface Plane {
  readonly client: Client;
}

const crdType = builtinType('CustomResourceDefinition', 'apiextensions.k8s.io');
let serial = 0;

export function describeBuiltinControllers(plane: () => Plane): void {
  const client = () => plane().client;
  const soon = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 120_000, interval: 50 });
  const exists = async (type: ResourceType, key: { namespace?: string; name: string }) => {
    try {
      await client().get(type, key);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  };
  const newNamespace = async () => {
    const name = `built-in-${process.pid}-${serial++}`;
    await client().create(namespaceType, { metadata: { name } });
    await soon(() => exists(serviceAccountType, { namespace: name, name: 'default' })).toBe(true);
    return name;
  };
  const newMap = (namespace: string, name: string, metadata: Partial<ObjectMeta> = {}) =>
    client().create(configMapType, { metadata: { ...metadata, namespace, name } });
  const owner = ({ metadata }: KubeObject, over: Partial<OwnerReference> = {}): OwnerReference => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    ...over,
  });
  const blocking = (object: KubeObject) => owner(object, { blockOwnerDeletion: true });
  const ownersOf = async (namespace: string, name: string) =>
    (await client().get(configMapType, { namespace, name })).metadata.ownerReferences?.map(
      (reference) => reference.name,
    );

  test('a new namespace gets its service account and the root certificate, and gets them back', async () => {
    const namespace = await newNamespace();
    await soon(() => exists(configMapType, { namespace, name: 'kube-root-ca.crt' })).toBe(true);
    await client().delete(serviceAccountType, { namespace, name: 'default' });
    await soon(() => exists(serviceAccountType, { namespace, name: 'default' })).toBe(true);

    const map = await client().get(configMapType, { namespace, name: 'kube-root-ca.crt' });
    const { data } = map;
    expect(data?.['ca.crt']).toMatch(/CERTIFICATE/);
    await client().update(configMapType, { ...map, data: { 'ca.crt': 'forged' } });
    await soon(async () => (await client().get(configMapType, { namespace, name: 'kube-root-ca.crt' })).data).toEqual(
      data,
    );
    await client().delete(configMapType, { namespace, name: 'kube-root-ca.crt' });
    await soon(() => exists(configMapType, { namespace, name: 'kube-root-ca.crt' })).toBe(true);
  });

  test('a deleted namespace goes with all it holds, and may come again', async () => {
    const namespace = await newNamespace();
    await newMap(namespace, 'a');
    await client().delete(namespaceType, { name: namespace });
    await soon(() => exists(namespaceType, { name: namespace })).toBe(false);
    await client().create(namespaceType, { metadata: { name: namespace } });
    await soon(() => exists(serviceAccountType, { namespace, name: 'default' })).toBe(true);
    expect(await exists(configMapType, { namespace, name: 'a' })).toBe(false);
  });

  test('a deleted namespace loses its pods first and says what holds it up', async () => {
    const namespace = await newNamespace();
    const spec = { containers: [{ name: 'c', image: 'pause' }] };
    await client().create(podType, {
      metadata: { namespace, name: 'held', finalizers: ['example.com/hold'] },
      spec,
    } as Pod);
    await newMap(namespace, 'a');
    await client().delete(namespaceType, { name: namespace });
    const conditions = async () => {
      const { status } = (await client().get(namespaceType, { name: namespace })) as Namespace;
      return (status?.conditions ?? []).filter(({ status }) => status === 'True').map(({ reason }) => reason);
    };
    await soon(conditions).toEqual(['SomeResourcesRemain', 'SomeFinalizersRemain']);
    expect(await exists(configMapType, { namespace, name: 'a' })).toBe(true);
    expect((await client().get(podType, { namespace, name: 'held' })).metadata.deletionTimestamp).toBeTruthy();

    const patch = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
    await client().patch(podType, { namespace, name: 'held' }, patch);
    await soon(() => exists(namespaceType, { name: namespace })).toBe(false);
  });

  test('background deletion: dependents follow their owner, through generations', async () => {
    const namespace = await newNamespace();
    const a = await newMap(namespace, 'a');
    const b = await newMap(namespace, 'b', { ownerReferences: [owner(a)] });
    await newMap(namespace, 'c', { ownerReferences: [owner(b)] });
    await client().delete(configMapType, { namespace, name: 'a' }, { propagationPolicy: 'Background' });
    await soon(() => exists(configMapType, { namespace, name: 'c' })).toBe(false);
    expect(await exists(configMapType, { namespace, name: 'b' })).toBe(false);
  });

  test('orphan deletion: dependents stay and lose only that reference', async () => {
    const namespace = await newNamespace();
    const a = await newMap(namespace, 'a');
    const other = await newMap(namespace, 'other');
    for (let at = 0; at < 10; at++) await newMap(namespace, `d${at}`, { ownerReferences: [owner(a), owner(other)] });
    await client().delete(configMapType, { namespace, name: 'a' }, { propagationPolicy: 'Orphan' });
    await soon(() => exists(configMapType, { namespace, name: 'a' })).toBe(false);
    for (let at = 0; at < 10; at++) expect(await ownersOf(namespace, `d${at}`)).toEqual(['other']);
  });

  test('foreground deletion: the owner waits for dependents that block it, and for theirs', async () => {
    const namespace = await newNamespace();
    const a = await newMap(namespace, 'a');
    const b = await newMap(namespace, 'b', { ownerReferences: [blocking(a)] });
    await newMap(namespace, 'c', { ownerReferences: [blocking(b)], finalizers: ['example.com/hold'] });
    await client().delete(configMapType, { namespace, name: 'a' }, { propagationPolicy: 'Foreground' });
    const deleting = async (name: string) =>
      Boolean((await client().get(configMapType, { namespace, name })).metadata.deletionTimestamp);
    await soon(() => deleting('c')).toBe(true);
    expect([await deleting('a'), await deleting('b')]).toEqual([true, true]);
    const patch = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
    await client().patch(configMapType, { namespace, name: 'c' }, patch);
    await soon(() => exists(configMapType, { namespace, name: 'a' })).toBe(false);
    expect(await exists(configMapType, { namespace, name: 'b' })).toBe(false);
  });

  test('a dependent with another living owner stays and loses the reference to the dying one', async () => {
    const namespace = await newNamespace();
    const a = await newMap(namespace, 'a');
    const b = await newMap(namespace, 'b');
    await newMap(namespace, 'shared', { ownerReferences: [blocking(a), owner(b)] });
    await client().delete(configMapType, { namespace, name: 'a' }, { propagationPolicy: 'Foreground' });
    await soon(() => exists(configMapType, { namespace, name: 'a' })).toBe(false);
    expect(await ownersOf(namespace, 'shared')).toEqual(['b']);
  });

  test('a circle of owners is no deadlock', async () => {
    const namespace = await newNamespace();
    const a = await newMap(namespace, 'a');
    const b = await newMap(namespace, 'b', { ownerReferences: [blocking(a)] });
    const c = await newMap(namespace, 'c', { ownerReferences: [blocking(b)] });
    const patch = { type: 'merge', body: { metadata: { ownerReferences: [blocking(c)] } } } as const;
    await client().patch(configMapType, { namespace, name: 'a' }, patch);
    await client().delete(configMapType, { namespace, name: 'a' }, { propagationPolicy: 'Foreground' });
    for (const name of ['a', 'b', 'c']) await soon(() => exists(configMapType, { namespace, name })).toBe(false);
  });

  test('an owner that never was, has another uid, or lives in another namespace is as good as gone', async () => {
    const namespace = await newNamespace();
    const elsewhere = await newNamespace();
    const a = await newMap(namespace, 'a');
    const far = await newMap(elsewhere, 'far');
    await newMap(namespace, 'never', { ownerReferences: [owner(a, { name: 'nobody', uid: 'no-such-uid' })] });
    await newMap(namespace, 'mistaken', { ownerReferences: [owner(a, { uid: 'another-uid' })] });
    await newMap(namespace, 'misplaced', { ownerReferences: [owner(far)] });
    for (const name of ['never', 'mistaken', 'misplaced']) {
      await soon(() => exists(configMapType, { namespace, name })).toBe(false);
    }
    expect(await exists(configMapType, { namespace, name: 'a' })).toBe(true);
  });

  test('custom resources own and are owned', async () => {
    const namespace = await newNamespace();
    const group = `g${process.pid}x${serial++}.example.com`;
    const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' };
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    const definition = {
      metadata: { name: `gadgets.${group}` },
      spec: { group, scope: 'Namespaced', names, versions },
    };
    await client().create(crdType, definition as KubeObject);
    const gadgetType: ResourceType = { group, version: 'v1', kind: 'Gadget', plural: 'gadgets', namespaced: true };
    await soon(async () => {
      try {
        await client().list(gadgetType, { namespace });
        return true;
      } catch {
        return false;
      }
    }).toBe(true);
    const gadget = await client().create(gadgetType, { metadata: { namespace, name: 'g' } });
    const reference = owner(gadget, { apiVersion: `${group}/v1`, kind: 'Gadget' });
    const map = await newMap(namespace, 'owned', { ownerReferences: [reference] });
    const child = { metadata: { namespace, name: 'child', ownerReferences: [owner(map)] } };
    await client().create(gadgetType, child as KubeObject);
    await client().delete(gadgetType, { namespace, name: 'g' }, { propagationPolicy: 'Background' });
    await soon(() => exists(gadgetType, { namespace, name: 'child' })).toBe(false);
    expect(await exists(configMapType, { namespace, name: 'owned' })).toBe(false);
    await client().delete(crdType, definition.metadata);
  });

  const service = (namespace: string, spec: Service['spec']) =>
    client().create(serviceType, { metadata: { namespace, name: 'web', labels: { team: 'a' } }, spec });
  const runningPod = async (namespace: string, name: string, ip: string) => {
    const spec = { containers: [{ name: 'c', image: 'pause', ports: [{ name: 'http', containerPort: 8080 }] }] };
    await client().create(podType, { metadata: { namespace, name, labels: { app: 'web' } }, spec } as Pod);
    await setReady(namespace, name, { ready: true, ip });
  };
  const setReady = (namespace: string, name: string, { ready, ip }: { ready: boolean; ip: string }) => {
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    const body = { status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions } };
    return client().patch(podType, { namespace, name }, { type: 'merge', body }, { subresource: 'status' });
  };
  const subsets = async (namespace: string) => {
    const { subsets = [] } = await client().get(endpointsType, { namespace, name: 'web' });
    return subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) => [
      addresses.map(({ ip }) => ip),
      notReadyAddresses.map(({ ip }) => ip),
      ports.map(({ port }) => port),
    ]);
  };
  const sliced = async (namespace: string, manager = 'endpointslice-controller.k8s.io') => {
    const labelSelector = `kubernetes.io/service-name=web,endpointslice.kubernetes.io/managed-by=${manager}`;
    const { items } = await client().list(endpointSliceType, { namespace, labelSelector });
    return items.map(({ endpoints, ports }) => [
      // Kubernetes writes empty lists of slices as null.
      (endpoints ?? []).map(({ addresses, conditions }) => `${addresses.join()} ${conditions?.ready}`).sort(),
      (ports ?? []).map(({ port }) => port),
    ]);
  };

  test('Endpoints and EndpointSlices follow the pods a service selects', async () => {
    const namespace = await newNamespace();
    await service(namespace, { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] });
    await soon(() => sliced(namespace)).toEqual([[[], []]]);
    await runningPod(namespace, 'one', '10.9.0.1');
    await runningPod(namespace, 'two', '10.9.0.2');
    await soon(() => subsets(namespace)).toEqual([[['10.9.0.1', '10.9.0.2'], [], [8080]]]);
    await soon(() => sliced(namespace)).toEqual([[['10.9.0.1 true', '10.9.0.2 true'], [8080]]]);

    await setReady(namespace, 'two', { ready: false, ip: '10.9.0.2' });
    await soon(() => subsets(namespace)).toEqual([[['10.9.0.1'], ['10.9.0.2'], [8080]]]);
    await soon(() => sliced(namespace)).toEqual([[['10.9.0.1 true', '10.9.0.2 false'], [8080]]]);

    await client().delete(podType, { namespace, name: 'one' }, { gracePeriodSeconds: 0 });
    await soon(() => subsets(namespace)).toEqual([[[], ['10.9.0.2'], [8080]]]);
    const { metadata } = await client().get(endpointsType, { namespace, name: 'web' });
    expect(metadata.labels).toMatchObject({ team: 'a', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' });

    await client().delete(endpointsType, { namespace, name: 'web' });
    await soon(() => exists(endpointsType, { namespace, name: 'web' })).toBe(true);
    await client().delete(serviceType, { namespace, name: 'web' });
    await soon(() => exists(endpointsType, { namespace, name: 'web' })).toBe(false);
    await soon(() => sliced(namespace)).toEqual([]);
  });

  test('Endpoints written by hand are mirrored as EndpointSlices, until they go', async () => {
    const namespace = await newNamespace();
    await service(namespace, { ports: [{ name: 'http', port: 80 }] });
    const key = { namespace, name: 'web' };
    const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];
    await client().create(endpointsType, { metadata: key, subsets: [{ addresses: [{ ip: '10.8.0.1' }], ports }] });
    const manager = 'endpointslicemirroring-controller.k8s.io';
    await soon(() => sliced(namespace, manager)).toEqual([[['10.8.0.1 true'], [80]]]);
    const body = { subsets: [{ addresses: [{ ip: '10.8.0.2' }], ports }] };
    await client().patch(endpointsType, key, { type: 'merge', body });
    await soon(() => sliced(namespace, manager)).toEqual([[['10.8.0.2 true'], [80]]]);
    await client().delete(endpointsType, key);
    await soon(() => sliced(namespace, manager)).toEqual([]);
  });

  test('a quota is counted, charged, enforced and given back', async () => {
    const namespace = await newNamespace();
    const hard = { pods: '2', 'count/pods': '3', 'services.nodeports': '1', 'count/leases.coordination.k8s.io': '1' };
    await client().create(resourceQuotaType, { metadata: { namespace, name: 'q' }, spec: { hard } });
    const used = async () => (await client().get(resourceQuotaType, { namespace, name: 'q' })).status?.used;
    const none = { pods: '0', 'count/pods': '0', 'services.nodeports': '0', 'count/leases.coordination.k8s.io': '0' };
    await soon(used).toEqual(none);
    const spec = { containers: [{ name: 'c', image: 'pause' }] };
    const create = (name: string) => client().create(podType, { metadata: { namespace, name }, spec } as Pod);
    await create('one');
    await create('two');
    expect(await used()).toEqual({ ...none, pods: '2', 'count/pods': '2' });
    await expect(create('three')).rejects.toThrow(
      'exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
    );

    const finished = { type: 'merge', body: { status: { phase: 'Succeeded' } } } as const;
    await client().patch(podType, { namespace, name: 'one' }, finished, { subresource: 'status' });
    await soon(used).toEqual({ ...none, pods: '1', 'count/pods': '2' });
    await client().delete(podType, { namespace, name: 'two' }, { gracePeriodSeconds: 0 });
    await soon(used).toEqual({ ...none, pods: '0', 'count/pods': '1' });

    const leaseType = builtinType('Lease', 'coordination.k8s.io');
    await client().create(leaseType, { metadata: { namespace, name: 'l' } });
    await client().delete(leaseType, { namespace, name: 'l' });
    await soon(used).toEqual({ ...none, 'count/pods': '1' });
    await client().patch(
      resourceQuotaType,
      { namespace, name: 'q' },
      { type: 'merge', body: { spec: { hard: { secrets: '4' } } } },
    );
    await soon(used).toEqual({ ...none, 'count/pods': '1', secrets: '0' });
  });

  test('Endpoints of no service are left alone', async () => {
    const namespace = await newNamespace();
    const key = { namespace, name: 'own' };
    const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];
    await client().create(endpointsType, { metadata: key, subsets: [{ addresses: [{ ip: '10.8.0.1' }], ports }] });
    await client().patch(endpointsType, key, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
    // Once the controllers have handled something newer, they have handled this too.
    await service(namespace, { selector: { app: 'web' }, ports: [{ name: 'http', port: 80 }] });
    await soon(() => exists(endpointsType, { namespace, name: 'web' })).toBe(true);
    expect(await exists(endpointsType, key)).toBe(true);
  });
}
