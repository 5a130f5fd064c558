/** Labels, annotations and volume plugins that Kubernetes 1.36 warns of, as data. */

/** Labels of nodes, where something selects by them. */
export const NODE_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

export const POD_ANNOTATIONS: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

/** The annotation that stood for the field before there was one: of the pod, and of each container by its name. */
export const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
export const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
export const SECCOMP_TEXT = 'non-functional in v1.27+; use the "seccompProfile" field instead';
export const APPARMOR_CONTAINER = 'container.apparmor.security.beta.kubernetes.io/';
export const APPARMOR_TEXT = 'deprecated since v1.30; use the "appArmorProfile" field instead';

export const VOLUME_ANNOTATIONS: Readonly<Record<string, string>> = {
  'volume.beta.kubernetes.io/storage-class': 'deprecated since v1.8; use "storageClassName" attribute instead',
  'volume.beta.kubernetes.io/mount-options': 'deprecated since v1.31; use "mountOptions" attribute instead',
};
export const CLAIM_ANNOTATIONS: Readonly<Record<string, string>> = {
  'volume.beta.kubernetes.io/storage-class': 'deprecated since v1.8; use "storageClassName" attribute instead',
};

const OF_BOTH = {
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
};

interface Plugin {
  /** As it is called in the text. */
  readonly shown: string;
  readonly why: string;
}

/** Sources of volumes by their field. Kubernetes writes one of them otherwise in its texts than in its objects. */
const plugins = (table: Readonly<Record<string, string>>): ReadonlyMap<string, Plugin> =>
  new Map(
    Object.entries(table).map(([field, why]) => [field, { shown: field === 'storageos' ? 'storageOS' : field, why }]),
  );

export const POD_VOLUMES = plugins({
  ...OF_BOTH,
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
});
export const PERSISTENT_VOLUMES = plugins(OF_BOTH);
