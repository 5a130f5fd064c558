/**
 * Gives every pod a service account: `default` when it names none, its image pull secrets, and a volume with a token,
 * the CA and the namespace, mounted where client libraries look for them.
 */
import { isMirrorPod } from '../../api/core/pod-state.ts';
import type { Container, Pod, ServiceAccount, Volume } from '../../api/generated/core-v1.ts';
import type { Clock } from '../../machinery/runtime/index.ts';
import { randomSuffix } from '../../machinery/values/index.ts';
import { type AdmissionPlugin, refusedName } from '../context/admission-plugin.ts';
import { objectKey } from '../registry/resource.ts';
import { forbidden } from '../exchange/status.ts';
import { readStored, type StoredReads } from '../stored/kind-view.ts';
import { isPodCreate, podOf, specOf } from './pods.ts';

export interface ServiceAccountOptions {
  readonly reads: StoredReads;
  readonly clock: Clock;
  readonly random: () => number;
  /**
   * False: only the name is filled in and the account need not exist, for planes that run without the controller that
   * makes one in every namespace.
   */
  readonly required: boolean;
}

const TYPE = { group: '', plural: 'serviceaccounts' };
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME_PREFIX = 'kube-api-access-';
/** A little more than an hour, which tells the issuer that nobody chose it. */
const TOKEN_SECONDS = 3607;
/** How long a pod waits for the account of a namespace that was made just now. */
const DEFAULT_ACCOUNT_WAIT_MS = 1000;

export function serviceAccounts(options: ServiceAccountOptions): AdmissionPlugin {
  const { reads, required, random } = options;
  return {
    name: 'ServiceAccount',
    handles: isPodCreate,
    admit(attributes) {
      const pod = podOf(attributes);
      // It may not depend on objects of the API.
      if (isMirrorPod(pod)) return;
      const spec = specOf(pod);
      const name = spec.serviceAccountName || spec.serviceAccount || 'default';
      spec.serviceAccountName = name;
      spec.serviceAccount = name;
      if (!required) return;
      const namespace = attributes.namespace ?? '';
      const account = readStored<ServiceAccount>(reads, TYPE, namespace, name);
      if (account !== undefined) {
        complete(pod, account, random);
        return;
      }
      const refuse = () =>
        forbidden(
          attributes.resource,
          refusedName(attributes),
          `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`,
        );
      if (name !== 'default') throw refuse();
      return waitFor(options, namespace, name).then((found) => {
        if (found === undefined) throw refuse();
        complete(pod, found, random);
      });
    },
  };
}

function waitFor(
  { reads, clock }: ServiceAccountOptions,
  namespace: string,
  name: string,
): Promise<ServiceAccount | undefined> {
  const resource = reads.registry.byPlural('', 'serviceaccounts');
  if (resource === undefined) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const finish = (): void => {
      stop();
      cancel();
      resolve(readStored<ServiceAccount>(reads, TYPE, namespace, name));
    };
    const key = objectKey(resource, namespace, name);
    const stop = reads.store.watch(key, reads.store.revision, (events) => {
      if (events.some((event) => event.key === key)) finish();
    });
    const cancel = clock.after(DEFAULT_ACCOUNT_WAIT_MS, finish);
  });
}

function complete(pod: Pod, account: ServiceAccount, random: () => number): void {
  const spec = specOf(pod);
  if ((spec.imagePullSecrets ?? []).length === 0 && (account.imagePullSecrets ?? []).length > 0) {
    spec.imagePullSecrets = (account.imagePullSecrets ?? []).map(({ name }) => ({ name }));
  }
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(pod, random);
}

function mountToken(pod: Pod, random: () => number): void {
  const spec = specOf(pod);
  const found = spec.volumes?.find(({ name }) => name.startsWith(VOLUME_PREFIX))?.name;
  const name = found ?? VOLUME_PREFIX + randomSuffix(random);
  let used = false;
  const mount = (container: Container): void => {
    if (container.volumeMounts?.some(({ mountPath }) => mountPath === MOUNT_PATH)) return;
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath: MOUNT_PATH }];
    used = true;
  };
  for (const container of spec.initContainers ?? []) mount(container);
  for (const container of spec.containers) mount(container);
  if (used && found === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 0o644,
    },
  };
}
