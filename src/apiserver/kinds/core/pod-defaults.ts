/** Defaults of pods and of the pod templates inside workloads. */
import type { Container, Pod, PodSpec, PodTemplateSpec, Probe, Volume } from '../../../api/generated/core-v1.ts';

export function defaultPod(pod: Pod): void {
  const spec = (pod.spec ??= { containers: [] });
  defaultPodSpec(spec);
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) requestsFromLimits(container);
  spec.enableServiceLinks ??= true;
  if (spec.hostNetwork) {
    for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
      for (const port of container.ports ?? []) port.hostPort ||= port.containerPort;
    }
  }
}

export function defaultPodTemplate(template: PodTemplateSpec | undefined): void {
  if (template === undefined || template === null) return;
  template.metadata ??= {};
  template.spec ??= { containers: [] };
  defaultPodSpec(template.spec);
}

function defaultPodSpec(spec: PodSpec): void {
  spec.restartPolicy ||= 'Always';
  spec.terminationGracePeriodSeconds ??= 30;
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.securityContext ??= {};
  spec.schedulerName ||= 'default-scheduler';
  if (spec.serviceAccountName && !spec.serviceAccount) spec.serviceAccount = spec.serviceAccountName;
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  for (const container of spec.containers ?? []) defaultContainer(container);
  for (const container of spec.initContainers ?? []) defaultContainer(container);
  for (const container of spec.ephemeralContainers ?? []) defaultContainer(container as Container);
}

function defaultContainer(container: Container): void {
  container.imagePullPolicy ||= pullPolicyOf(container.image ?? '');
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  container.resources ??= {};
  for (const port of container.ports ?? []) port.protocol ||= 'TCP';
  for (const variable of container.env ?? []) {
    const field = variable.valueFrom?.fieldRef;
    if (field) field.apiVersion ||= 'v1';
  }
  defaultProbe(container.livenessProbe);
  defaultProbe(container.readinessProbe);
  defaultProbe(container.startupProbe);
  for (const handler of [container.lifecycle?.postStart, container.lifecycle?.preStop])
    defaultHttpGet(handler?.httpGet);
}

/** Always for `:latest` and for no tag, unless the image is pinned by digest. */
function pullPolicyOf(image: string): string {
  if (image.includes('@')) return 'IfNotPresent';
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultProbe(probe: Probe | undefined): void {
  if (!probe) return;
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  defaultHttpGet(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= '';
}

function defaultHttpGet(action: { path?: string | undefined; scheme?: string | undefined } | undefined): void {
  if (!action) return;
  action.path ||= '/';
  action.scheme ||= 'HTTP';
}

const FILE_MODE = 0o644;
const TOKEN_SECONDS = 3600;

function defaultVolume(volume: Volume): void {
  const sources = Object.keys(volume).filter((key) => key !== 'name');
  if (sources.length === 0) volume.emptyDir = {};
  if (volume.secret) volume.secret.defaultMode ??= FILE_MODE;
  if (volume.configMap) volume.configMap.defaultMode ??= FILE_MODE;
  if (volume.hostPath) volume.hostPath.type ??= '';
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= FILE_MODE;
    for (const item of volume.downwardAPI.items ?? []) if (item.fieldRef) item.fieldRef.apiVersion ||= 'v1';
  }
  if (volume.projected) {
    volume.projected.defaultMode ??= FILE_MODE;
    for (const source of volume.projected.sources ?? []) {
      if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= TOKEN_SECONDS;
      for (const item of source.downwardAPI?.items ?? []) if (item.fieldRef) item.fieldRef.apiVersion ||= 'v1';
    }
  }
  if (volume.image && !volume.image.pullPolicy) volume.image.pullPolicy = pullPolicyOf(volume.image.reference ?? '');
  if (volume.ephemeral?.volumeClaimTemplate?.spec)
    volume.ephemeral.volumeClaimTemplate.spec.volumeMode ??= 'Filesystem';
  if (volume.iscsi) volume.iscsi.iscsiInterface ||= 'default';
  if (volume.rbd) {
    volume.rbd.pool ||= 'rbd';
    volume.rbd.user ||= 'admin';
    volume.rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (volume.azureDisk) {
    volume.azureDisk.cachingMode ??= 'ReadWrite';
    volume.azureDisk.kind ??= 'Shared';
    volume.azureDisk.fsType ??= 'ext4';
    volume.azureDisk.readOnly ??= false;
  }
  if (volume.scaleIO) {
    volume.scaleIO.storageMode ||= 'ThinProvisioned';
    volume.scaleIO.fsType ||= 'xfs';
  }
}

function requestsFromLimits(container: Container): void {
  const { limits, requests } = container.resources ?? {};
  if (!limits) return;
  for (const name in limits) {
    if (requests !== undefined && Object.hasOwn(requests, name)) continue;
    container.resources = { ...container.resources, requests: { ...limits, ...requests } };
    return;
  }
}
