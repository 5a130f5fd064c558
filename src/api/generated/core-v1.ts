// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { Condition, LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface AWSElasticBlockStoreVolumeSource {
  volumeID: string;
  fsType?: string | undefined;
  partition?: number | undefined;
  readOnly?: boolean | undefined;
}

export interface Affinity {
  nodeAffinity?: NodeAffinity | undefined;
  podAffinity?: PodAffinity | undefined;
  podAntiAffinity?: PodAntiAffinity | undefined;
}

export interface AppArmorProfile {
  type: string;
  localhostProfile?: string | undefined;
}

export interface AttachedVolume {
  name: string;
  devicePath: string;
}

export interface AzureDiskVolumeSource {
  diskName: string;
  diskURI: string;
  cachingMode?: string | undefined;
  fsType?: string | undefined;
  readOnly?: boolean | undefined;
  kind?: string | undefined;
}

export interface AzureFilePersistentVolumeSource {
  secretName: string;
  shareName: string;
  readOnly?: boolean | undefined;
  secretNamespace?: string | undefined;
}

export interface AzureFileVolumeSource {
  secretName: string;
  shareName: string;
  readOnly?: boolean | undefined;
}

export interface Binding {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  target: ObjectReference;
}

export interface CSIPersistentVolumeSource {
  driver: string;
  volumeHandle: string;
  readOnly?: boolean | undefined;
  fsType?: string | undefined;
  volumeAttributes?: Record<string, string> | undefined;
  controllerPublishSecretRef?: SecretReference | undefined;
  nodeStageSecretRef?: SecretReference | undefined;
  nodePublishSecretRef?: SecretReference | undefined;
  controllerExpandSecretRef?: SecretReference | undefined;
  nodeExpandSecretRef?: SecretReference | undefined;
}

export interface CSIVolumeSource {
  driver: string;
  readOnly?: boolean | undefined;
  fsType?: string | undefined;
  volumeAttributes?: Record<string, string> | undefined;
  nodePublishSecretRef?: LocalObjectReference | undefined;
}

export interface Capabilities {
  add?: string[] | undefined;
  drop?: string[] | undefined;
}

export interface CephFSPersistentVolumeSource {
  monitors: string[];
  path?: string | undefined;
  user?: string | undefined;
  secretFile?: string | undefined;
  secretRef?: SecretReference | undefined;
  readOnly?: boolean | undefined;
}

export interface CephFSVolumeSource {
  monitors: string[];
  path?: string | undefined;
  user?: string | undefined;
  secretFile?: string | undefined;
  secretRef?: LocalObjectReference | undefined;
  readOnly?: boolean | undefined;
}

export interface CinderPersistentVolumeSource {
  volumeID: string;
  fsType?: string | undefined;
  readOnly?: boolean | undefined;
  secretRef?: SecretReference | undefined;
}

export interface CinderVolumeSource {
  volumeID: string;
  fsType?: string | undefined;
  readOnly?: boolean | undefined;
  secretRef?: LocalObjectReference | undefined;
}

export interface ClientIPConfig {
  timeoutSeconds?: number | undefined;
}

export interface ClusterTrustBundleProjection {
  name?: string | undefined;
  signerName?: string | undefined;
  labelSelector?: LabelSelector | undefined;
  optional?: boolean | undefined;
  path: string;
}

export interface ComponentCondition {
  type: string;
  status: string;
  message?: string | undefined;
  error?: string | undefined;
}

export interface ComponentStatus {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  conditions?: ComponentCondition[] | undefined;
}

export interface ComponentStatusList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ComponentStatus[];
}

export interface ConfigMap {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  immutable?: boolean | undefined;
  data?: Record<string, string> | undefined;
  binaryData?: Record<string, string> | undefined;
}

export interface ConfigMapEnvSource extends LocalObjectReference {
  optional?: boolean | undefined;
}

export interface ConfigMapKeySelector extends LocalObjectReference {
  key: string;
  optional?: boolean | undefined;
}

export interface ConfigMapList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ConfigMap[];
}

export interface ConfigMapNodeConfigSource {
  namespace: string;
  name: string;
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  kubeletConfigKey: string;
}

export interface ConfigMapProjection extends LocalObjectReference {
  items?: KeyToPath[] | undefined;
  optional?: boolean | undefined;
}

export interface ConfigMapVolumeSource extends LocalObjectReference {
  items?: KeyToPath[] | undefined;
  defaultMode?: number | undefined;
  optional?: boolean | undefined;
}

export interface Container {
  name: string;
  image?: string | undefined;
  command?: string[] | undefined;
  args?: string[] | undefined;
  workingDir?: string | undefined;
  ports?: ContainerPort[] | undefined;
  envFrom?: EnvFromSource[] | undefined;
  env?: EnvVar[] | undefined;
  resources?: ResourceRequirements | undefined;
  resizePolicy?: ContainerResizePolicy[] | undefined;
  restartPolicy?: string | undefined;
  restartPolicyRules?: ContainerRestartRule[] | undefined;
  volumeMounts?: VolumeMount[] | undefined;
  volumeDevices?: VolumeDevice[] | undefined;
  livenessProbe?: Probe | undefined;
  readinessProbe?: Probe | undefined;
  startupProbe?: Probe | undefined;
  lifecycle?: Lifecycle | undefined;
  terminationMessagePath?: string | undefined;
  terminationMessagePolicy?: string | undefined;
  imagePullPolicy?: string | undefined;
  securityContext?: SecurityContext | undefined;
  stdin?: boolean | undefined;
  stdinOnce?: boolean | undefined;
  tty?: boolean | undefined;
}

export interface ContainerExtendedResourceRequest {
  containerName: string;
  resourceName: string;
  requestName: string;
}

export interface ContainerImage {
  names?: string[] | undefined;
  sizeBytes?: number | undefined;
}

export interface ContainerPort {
  name?: string | undefined;
  hostPort?: number | undefined;
  containerPort: number;
  protocol?: string | undefined;
  hostIP?: string | undefined;
}

export interface ContainerResizePolicy {
  resourceName: string;
  restartPolicy: string;
}

export interface ContainerRestartRule {
  action?: string | undefined;
  exitCodes?: ContainerRestartRuleOnExitCodes | undefined;
}

export interface ContainerRestartRuleOnExitCodes {
  operator?: string | undefined;
  values?: number[] | undefined;
}

export interface ContainerState {
  waiting?: ContainerStateWaiting | undefined;
  running?: ContainerStateRunning | undefined;
  terminated?: ContainerStateTerminated | undefined;
}

export interface ContainerStateRunning {
  startedAt?: string | undefined;
}

export interface ContainerStateTerminated {
  exitCode: number;
  signal?: number | undefined;
  reason?: string | undefined;
  message?: string | undefined;
  startedAt?: string | undefined;
  finishedAt?: string | undefined;
  containerID?: string | undefined;
}

export interface ContainerStateWaiting {
  reason?: string | undefined;
  message?: string | undefined;
}

export interface ContainerStatus {
  name: string;
  state?: ContainerState | undefined;
  lastState?: ContainerState | undefined;
  ready: boolean;
  restartCount: number;
  image: string;
  imageID: string;
  containerID?: string | undefined;
  started?: boolean | undefined;
  allocatedResources?: Record<string, string> | undefined;
  resources?: ResourceRequirements | undefined;
  volumeMounts?: VolumeMountStatus[] | undefined;
  user?: ContainerUser | undefined;
  allocatedResourcesStatus?: ResourceStatus[] | undefined;
  stopSignal?: string | undefined;
}

export interface ContainerUser {
  linux?: LinuxContainerUser | undefined;
}

export interface DaemonEndpoint {
  Port: number;
}

export interface DownwardAPIProjection {
  items?: DownwardAPIVolumeFile[] | undefined;
}

export interface DownwardAPIVolumeFile {
  path: string;
  fieldRef?: ObjectFieldSelector | undefined;
  resourceFieldRef?: ResourceFieldSelector | undefined;
  mode?: number | undefined;
}

export interface DownwardAPIVolumeSource {
  items?: DownwardAPIVolumeFile[] | undefined;
  defaultMode?: number | undefined;
}

export interface EmptyDirVolumeSource {
  medium?: string | undefined;
  sizeLimit?: string | undefined;
}

export interface EndpointAddress {
  ip: string;
  hostname?: string | undefined;
  nodeName?: string | undefined;
  targetRef?: ObjectReference | undefined;
}

export interface EndpointPort {
  name?: string | undefined;
  port: number;
  protocol?: string | undefined;
  appProtocol?: string | undefined;
}

export interface EndpointSubset {
  addresses?: EndpointAddress[] | undefined;
  notReadyAddresses?: EndpointAddress[] | undefined;
  ports?: EndpointPort[] | undefined;
}

export interface Endpoints {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  subsets?: EndpointSubset[] | undefined;
}

export interface EndpointsList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Endpoints[];
}

export interface EnvFromSource {
  prefix?: string | undefined;
  configMapRef?: ConfigMapEnvSource | undefined;
  secretRef?: SecretEnvSource | undefined;
}

export interface EnvVar {
  name: string;
  value?: string | undefined;
  valueFrom?: EnvVarSource | undefined;
}

export interface EnvVarSource {
  fieldRef?: ObjectFieldSelector | undefined;
  resourceFieldRef?: ResourceFieldSelector | undefined;
  configMapKeyRef?: ConfigMapKeySelector | undefined;
  secretKeyRef?: SecretKeySelector | undefined;
  fileKeyRef?: FileKeySelector | undefined;
}

export interface EphemeralContainer extends EphemeralContainerCommon {
  targetContainerName?: string | undefined;
}

export interface EphemeralContainerCommon {
  name: string;
  image?: string | undefined;
  command?: string[] | undefined;
  args?: string[] | undefined;
  workingDir?: string | undefined;
  ports?: ContainerPort[] | undefined;
  envFrom?: EnvFromSource[] | undefined;
  env?: EnvVar[] | undefined;
  resources?: ResourceRequirements | undefined;
  resizePolicy?: ContainerResizePolicy[] | undefined;
  restartPolicy?: string | undefined;
  restartPolicyRules?: ContainerRestartRule[] | undefined;
  volumeMounts?: VolumeMount[] | undefined;
  volumeDevices?: VolumeDevice[] | undefined;
  livenessProbe?: Probe | undefined;
  readinessProbe?: Probe | undefined;
  startupProbe?: Probe | undefined;
  lifecycle?: Lifecycle | undefined;
  terminationMessagePath?: string | undefined;
  terminationMessagePolicy?: string | undefined;
  imagePullPolicy?: string | undefined;
  securityContext?: SecurityContext | undefined;
  stdin?: boolean | undefined;
  stdinOnce?: boolean | undefined;
  tty?: boolean | undefined;
}

export interface EphemeralVolumeSource {
  volumeClaimTemplate?: PersistentVolumeClaimTemplate | undefined;
}

export interface Event {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  involvedObject: ObjectReference;
  reason?: string | undefined;
  message?: string | undefined;
  source?: EventSource | undefined;
  firstTimestamp?: string | undefined;
  lastTimestamp?: string | undefined;
  count?: number | undefined;
  type?: string | undefined;
  eventTime?: string | undefined;
  series?: EventSeries | undefined;
  action?: string | undefined;
  related?: ObjectReference | undefined;
  reportingComponent?: string | undefined;
  reportingInstance?: string | undefined;
}

export interface EventList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Event[];
}

export interface EventSeries {
  count?: number | undefined;
  lastObservedTime?: string | undefined;
}

export interface EventSource {
  component?: string | undefined;
  host?: string | undefined;
}

export interface EvictionResponder {
  name: string;
  priority: number;
}

export interface ExecAction {
  command?: string[] | undefined;
}

export interface FCVolumeSource {
  targetWWNs?: string[] | undefined;
  lun?: number | undefined;
  fsType?: string | undefined;
  readOnly?: boolean | undefined;
  wwids?: string[] | undefined;
}

export interface FileKeySelector {
  volumeName: string;
  path: string;
  key: string;
  optional?: boolean | undefined;
}

export interface FlexPersistentVolumeSource {
  driver: string;
  fsType?: string | undefined;
  secretRef?: SecretReference | undefined;
  readOnly?: boolean | undefined;
  options?: Record<string, string> | undefined;
}

export interface FlexVolumeSource {
  driver: string;
  fsType?: string | undefined;
  secretRef?: LocalObjectReference | undefined;
  readOnly?: boolean | undefined;
  options?: Record<string, string> | undefined;
}

export interface FlockerVolumeSource {
  datasetName?: string | undefined;
  datasetUUID?: string | undefined;
}

export interface GCEPersistentDiskVolumeSource {
  pdName: string;
  fsType?: string | undefined;
  partition?: number | undefined;
  readOnly?: boolean | undefined;
}

export interface GRPCAction {
  port: number;
  service?: string | undefined;
}

export interface GitRepoVolumeSource {
  repository: string;
  revision?: string | undefined;
  directory?: string | undefined;
}

export interface GlusterfsPersistentVolumeSource {
  endpoints: string;
  path: string;
  readOnly?: boolean | undefined;
  endpointsNamespace?: string | undefined;
}

export interface GlusterfsVolumeSource {
  endpoints: string;
  path: string;
  readOnly?: boolean | undefined;
}

export interface HTTPGetAction {
  path?: string | undefined;
  port: number | string;
  host?: string | undefined;
  scheme?: string | undefined;
  httpHeaders?: HTTPHeader[] | undefined;
}

export interface HTTPHeader {
  name: string;
  value: string;
}

export interface HostAlias {
  ip: string;
  hostnames?: string[] | undefined;
}

export interface HostIP {
  ip: string;
}

export interface HostPathVolumeSource {
  path: string;
  type?: string | undefined;
}

export interface ISCSIPersistentVolumeSource {
  targetPortal: string;
  iqn: string;
  lun: number;
  iscsiInterface?: string | undefined;
  fsType?: string | undefined;
  readOnly?: boolean | undefined;
  portals?: string[] | undefined;
  chapAuthDiscovery?: boolean | undefined;
  chapAuthSession?: boolean | undefined;
  secretRef?: SecretReference | undefined;
  initiatorName?: string | undefined;
}

export interface ISCSIVolumeSource {
  targetPortal: string;
  iqn: string;
  lun: number;
  iscsiInterface?: string | undefined;
  fsType?: string | undefined;
  readOnly?: boolean | undefined;
  portals?: string[] | undefined;
  chapAuthDiscovery?: boolean | undefined;
  chapAuthSession?: boolean | undefined;
  secretRef?: LocalObjectReference | undefined;
  initiatorName?: string | undefined;
}

export interface ImageVolumeSource {
  reference?: string | undefined;
  pullPolicy?: string | undefined;
}

export interface ImageVolumeStatus {
  imageRef?: string | undefined;
}

export interface KeyToPath {
  key: string;
  path: string;
  mode?: number | undefined;
}

export interface Lifecycle {
  postStart?: LifecycleHandler | undefined;
  preStop?: LifecycleHandler | undefined;
  stopSignal?: string | undefined;
}

export interface LifecycleHandler {
  exec?: ExecAction | undefined;
  httpGet?: HTTPGetAction | undefined;
  tcpSocket?: TCPSocketAction | undefined;
  sleep?: SleepAction | undefined;
}

export interface LimitRange {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: LimitRangeSpec | undefined;
}

export interface LimitRangeItem {
  type: string;
  max?: Record<string, string> | undefined;
  min?: Record<string, string> | undefined;
  default?: Record<string, string> | undefined;
  defaultRequest?: Record<string, string> | undefined;
  maxLimitRequestRatio?: Record<string, string> | undefined;
}

export interface LimitRangeList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: LimitRange[];
}

export interface LimitRangeSpec {
  limits: LimitRangeItem[];
}

export interface LinuxContainerUser {
  uid: number;
  gid: number;
  supplementalGroups?: number[] | undefined;
}

export interface List {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: unknown[];
}

export interface LoadBalancerIngress {
  ip?: string | undefined;
  hostname?: string | undefined;
  ipMode?: string | undefined;
  ports?: PortStatus[] | undefined;
}

export interface LoadBalancerStatus {
  ingress?: LoadBalancerIngress[] | undefined;
}

export interface LocalObjectReference {
  name?: string | undefined;
}

export interface LocalVolumeSource {
  path: string;
  fsType?: string | undefined;
}

export interface ModifyVolumeStatus {
  targetVolumeAttributesClassName?: string | undefined;
  status: string;
}

export interface NFSVolumeSource {
  server: string;
  path: string;
  readOnly?: boolean | undefined;
}

export interface Namespace {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: NamespaceSpec | undefined;
  status?: NamespaceStatus | undefined;
}

export interface NamespaceCondition {
  type: string;
  status: string;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface NamespaceList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Namespace[];
}

export interface NamespaceSpec {
  finalizers?: string[] | undefined;
}

export interface NamespaceStatus {
  phase?: string | undefined;
  conditions?: NamespaceCondition[] | undefined;
}

export interface Node {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: NodeSpec | undefined;
  status?: NodeStatus | undefined;
}

export interface NodeAddress {
  type: string;
  address: string;
}

export interface NodeAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector | undefined;
  preferredDuringSchedulingIgnoredDuringExecution?: PreferredSchedulingTerm[] | undefined;
}

export interface NodeAllocatableResourceClaimStatus {
  resourceClaimName: string;
  containers?: string[] | undefined;
  resources: Record<string, string>;
}

export interface NodeCondition {
  type: string;
  status: string;
  lastHeartbeatTime?: string | undefined;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface NodeConfigSource {
  configMap?: ConfigMapNodeConfigSource | undefined;
}

export interface NodeConfigStatus {
  assigned?: NodeConfigSource | undefined;
  active?: NodeConfigSource | undefined;
  lastKnownGood?: NodeConfigSource | undefined;
  error?: string | undefined;
}

export interface NodeDaemonEndpoints {
  kubeletEndpoint?: DaemonEndpoint | undefined;
}

export interface NodeFeatures {
  supplementalGroupsPolicy?: boolean | undefined;
}

export interface NodeList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Node[];
}

export interface NodeProxyOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  path?: string | undefined;
}

export interface NodeRuntimeHandler {
  name?: string | undefined;
  features?: NodeRuntimeHandlerFeatures | undefined;
}

export interface NodeRuntimeHandlerFeatures {
  recursiveReadOnlyMounts?: boolean | undefined;
  userNamespaces?: boolean | undefined;
}

export interface NodeSelector {
  nodeSelectorTerms: NodeSelectorTerm[];
}

export interface NodeSelectorRequirement {
  key: string;
  operator: string;
  values?: string[] | undefined;
}

export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[] | undefined;
  matchFields?: NodeSelectorRequirement[] | undefined;
}

export interface NodeSpec {
  podCIDR?: string | undefined;
  podCIDRs?: string[] | undefined;
  providerID?: string | undefined;
  unschedulable?: boolean | undefined;
  taints?: Taint[] | undefined;
  configSource?: NodeConfigSource | undefined;
  externalID?: string | undefined;
}

export interface NodeStatus {
  capacity?: Record<string, string> | undefined;
  allocatable?: Record<string, string> | undefined;
  phase?: string | undefined;
  conditions?: NodeCondition[] | undefined;
  addresses?: NodeAddress[] | undefined;
  daemonEndpoints?: NodeDaemonEndpoints | undefined;
  nodeInfo?: NodeSystemInfo | undefined;
  images?: ContainerImage[] | undefined;
  volumesInUse?: string[] | undefined;
  volumesAttached?: AttachedVolume[] | undefined;
  config?: NodeConfigStatus | undefined;
  runtimeHandlers?: NodeRuntimeHandler[] | undefined;
  features?: NodeFeatures | undefined;
  declaredFeatures?: string[] | undefined;
}

export interface NodeSwapStatus {
  capacity?: number | undefined;
}

export interface NodeSystemInfo {
  machineID: string;
  systemUUID: string;
  bootID: string;
  kernelVersion: string;
  osImage: string;
  containerRuntimeVersion: string;
  kubeletVersion: string;
  kubeProxyVersion: string;
  operatingSystem: string;
  architecture: string;
  swap?: NodeSwapStatus | undefined;
}

export interface ObjectFieldSelector {
  apiVersion?: string | undefined;
  fieldPath: string;
}

export interface ObjectReference {
  kind?: string | undefined;
  namespace?: string | undefined;
  name?: string | undefined;
  uid?: string | undefined;
  apiVersion?: string | undefined;
  resourceVersion?: string | undefined;
  fieldPath?: string | undefined;
}

export interface PersistentVolume {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: PersistentVolumeSpec | undefined;
  status?: PersistentVolumeStatus | undefined;
}

export interface PersistentVolumeClaim {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: PersistentVolumeClaimSpec | undefined;
  status?: PersistentVolumeClaimStatus | undefined;
}

export interface PersistentVolumeClaimCondition {
  type: string;
  status: string;
  lastProbeTime?: string | undefined;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface PersistentVolumeClaimList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: PersistentVolumeClaim[];
}

export interface PersistentVolumeClaimSpec {
  accessModes?: string[] | undefined;
  selector?: LabelSelector | undefined;
  resources?: VolumeResourceRequirements | undefined;
  volumeName?: string | undefined;
  storageClassName?: string | undefined;
  volumeMode?: string | undefined;
  dataSource?: TypedLocalObjectReference | undefined;
  dataSourceRef?: TypedObjectReference | undefined;
  volumeAttributesClassName?: string | undefined;
}

export interface PersistentVolumeClaimStatus {
  phase?: string | undefined;
  accessModes?: string[] | undefined;
  capacity?: Record<string, string> | undefined;
  conditions?: PersistentVolumeClaimCondition[] | undefined;
  allocatedResources?: Record<string, string> | undefined;
  allocatedResourceStatuses?: Record<string, string> | undefined;
  currentVolumeAttributesClassName?: string | undefined;
  modifyVolumeStatus?: ModifyVolumeStatus | undefined;
}

export interface PersistentVolumeClaimTemplate {
  metadata?: ObjectMeta | undefined;
  spec?: PersistentVolumeClaimSpec | undefined;
}

export interface PersistentVolumeClaimVolumeSource {
  claimName: string;
  readOnly?: boolean | undefined;
}

export interface PersistentVolumeList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: PersistentVolume[];
}

export interface PersistentVolumeSource {
  gcePersistentDisk?: GCEPersistentDiskVolumeSource | undefined;
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource | undefined;
  hostPath?: HostPathVolumeSource | undefined;
  glusterfs?: GlusterfsPersistentVolumeSource | undefined;
  nfs?: NFSVolumeSource | undefined;
  rbd?: RBDPersistentVolumeSource | undefined;
  iscsi?: ISCSIPersistentVolumeSource | undefined;
  cinder?: CinderPersistentVolumeSource | undefined;
  cephfs?: CephFSPersistentVolumeSource | undefined;
  fc?: FCVolumeSource | undefined;
  flocker?: FlockerVolumeSource | undefined;
  flexVolume?: FlexPersistentVolumeSource | undefined;
  azureFile?: AzureFilePersistentVolumeSource | undefined;
  vsphereVolume?: VsphereVirtualDiskVolumeSource | undefined;
  quobyte?: QuobyteVolumeSource | undefined;
  azureDisk?: AzureDiskVolumeSource | undefined;
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource | undefined;
  portworxVolume?: PortworxVolumeSource | undefined;
  scaleIO?: ScaleIOPersistentVolumeSource | undefined;
  local?: LocalVolumeSource | undefined;
  storageos?: StorageOSPersistentVolumeSource | undefined;
  csi?: CSIPersistentVolumeSource | undefined;
}

export interface PersistentVolumeSpec extends PersistentVolumeSource {
  capacity?: Record<string, string> | undefined;
  accessModes?: string[] | undefined;
  claimRef?: ObjectReference | undefined;
  persistentVolumeReclaimPolicy?: string | undefined;
  storageClassName?: string | undefined;
  mountOptions?: string[] | undefined;
  volumeMode?: string | undefined;
  nodeAffinity?: VolumeNodeAffinity | undefined;
  volumeAttributesClassName?: string | undefined;
}

export interface PersistentVolumeStatus {
  phase?: string | undefined;
  message?: string | undefined;
  reason?: string | undefined;
  lastPhaseTransitionTime?: string | undefined;
}

export interface PhotonPersistentDiskVolumeSource {
  pdID: string;
  fsType?: string | undefined;
}

export interface Pod {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: PodSpec | undefined;
  status?: PodStatus | undefined;
}

export interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[] | undefined;
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[] | undefined;
}

export interface PodAffinityTerm {
  labelSelector?: LabelSelector | undefined;
  namespaces?: string[] | undefined;
  topologyKey: string;
  namespaceSelector?: LabelSelector | undefined;
  matchLabelKeys?: string[] | undefined;
  mismatchLabelKeys?: string[] | undefined;
}

export interface PodAntiAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[] | undefined;
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[] | undefined;
}

export interface PodAttachOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  stdin?: boolean | undefined;
  stdout?: boolean | undefined;
  stderr?: boolean | undefined;
  tty?: boolean | undefined;
  container?: string | undefined;
}

export interface PodCertificateProjection {
  signerName?: string | undefined;
  keyType?: string | undefined;
  maxExpirationSeconds?: number | undefined;
  credentialBundlePath?: string | undefined;
  keyPath?: string | undefined;
  certificateChainPath?: string | undefined;
  userAnnotations?: Record<string, string> | undefined;
}

export interface PodCondition {
  type: string;
  observedGeneration?: number | undefined;
  status: string;
  lastProbeTime?: string | undefined;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface PodDNSConfig {
  nameservers?: string[] | undefined;
  searches?: string[] | undefined;
  options?: PodDNSConfigOption[] | undefined;
}

export interface PodDNSConfigOption {
  name?: string | undefined;
  value?: string | undefined;
}

export interface PodExecOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  stdin?: boolean | undefined;
  stdout?: boolean | undefined;
  stderr?: boolean | undefined;
  tty?: boolean | undefined;
  container?: string | undefined;
  command: string[];
}

export interface PodExtendedResourceClaimStatus {
  requestMappings: ContainerExtendedResourceRequest[];
  resourceClaimName: string;
}

export interface PodIP {
  ip: string;
}

export interface PodList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Pod[];
}

export interface PodLogOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  container?: string | undefined;
  follow?: boolean | undefined;
  previous?: boolean | undefined;
  sinceSeconds?: number | undefined;
  sinceTime?: string | undefined;
  timestamps?: boolean | undefined;
  tailLines?: number | undefined;
  limitBytes?: number | undefined;
  insecureSkipTLSVerifyBackend?: boolean | undefined;
  stream?: string | undefined;
}

export interface PodOS {
  name: string;
}

export interface PodPortForwardOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  ports?: number[] | undefined;
}

export interface PodProxyOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  path?: string | undefined;
}

export interface PodReadinessGate {
  conditionType: string;
}

export interface PodResourceClaim {
  name: string;
  resourceClaimName?: string | undefined;
  resourceClaimTemplateName?: string | undefined;
}

export interface PodResourceClaimStatus {
  name: string;
  resourceClaimName?: string | undefined;
}

export interface PodSchedulingGate {
  name: string;
}

export interface PodSchedulingGroup {
  podGroupName?: string | undefined;
}

export interface PodSecurityContext {
  seLinuxOptions?: SELinuxOptions | undefined;
  windowsOptions?: WindowsSecurityContextOptions | undefined;
  runAsUser?: number | undefined;
  runAsGroup?: number | undefined;
  runAsNonRoot?: boolean | undefined;
  supplementalGroups?: number[] | undefined;
  supplementalGroupsPolicy?: string | undefined;
  fsGroup?: number | undefined;
  sysctls?: Sysctl[] | undefined;
  fsGroupChangePolicy?: string | undefined;
  seccompProfile?: SeccompProfile | undefined;
  appArmorProfile?: AppArmorProfile | undefined;
  seLinuxChangePolicy?: string | undefined;
}

export interface PodSpec {
  volumes?: Volume[] | undefined;
  initContainers?: Container[] | undefined;
  containers: Container[];
  ephemeralContainers?: EphemeralContainer[] | undefined;
  restartPolicy?: string | undefined;
  terminationGracePeriodSeconds?: number | undefined;
  activeDeadlineSeconds?: number | undefined;
  dnsPolicy?: string | undefined;
  nodeSelector?: Record<string, string> | undefined;
  serviceAccountName?: string | undefined;
  serviceAccount?: string | undefined;
  automountServiceAccountToken?: boolean | undefined;
  nodeName?: string | undefined;
  hostNetwork?: boolean | undefined;
  hostPID?: boolean | undefined;
  hostIPC?: boolean | undefined;
  shareProcessNamespace?: boolean | undefined;
  securityContext?: PodSecurityContext | undefined;
  imagePullSecrets?: LocalObjectReference[] | undefined;
  hostname?: string | undefined;
  subdomain?: string | undefined;
  affinity?: Affinity | undefined;
  schedulerName?: string | undefined;
  tolerations?: Toleration[] | undefined;
  hostAliases?: HostAlias[] | undefined;
  priorityClassName?: string | undefined;
  priority?: number | undefined;
  dnsConfig?: PodDNSConfig | undefined;
  readinessGates?: PodReadinessGate[] | undefined;
  runtimeClassName?: string | undefined;
  enableServiceLinks?: boolean | undefined;
  preemptionPolicy?: string | undefined;
  overhead?: Record<string, string> | undefined;
  topologySpreadConstraints?: TopologySpreadConstraint[] | undefined;
  setHostnameAsFQDN?: boolean | undefined;
  os?: PodOS | undefined;
  hostUsers?: boolean | undefined;
  schedulingGates?: PodSchedulingGate[] | undefined;
  resourceClaims?: PodResourceClaim[] | undefined;
  resources?: ResourceRequirements | undefined;
  hostnameOverride?: string | undefined;
  schedulingGroup?: PodSchedulingGroup | undefined;
  workload?: PodWorkload | undefined;
  workloadReference?: PodWorkloadReference | undefined;
  workloadRef?: PodWorkloadRef | undefined;
  evictionResponders?: EvictionResponder[] | undefined;
}

export interface PodStatus {
  observedGeneration?: number | undefined;
  phase?: string | undefined;
  conditions?: PodCondition[] | undefined;
  message?: string | undefined;
  reason?: string | undefined;
  nominatedNodeName?: string | undefined;
  hostIP?: string | undefined;
  hostIPs?: HostIP[] | undefined;
  podIP?: string | undefined;
  podIPs?: PodIP[] | undefined;
  startTime?: string | undefined;
  initContainerStatuses?: ContainerStatus[] | undefined;
  containerStatuses?: ContainerStatus[] | undefined;
  qosClass?: string | undefined;
  ephemeralContainerStatuses?: ContainerStatus[] | undefined;
  resize?: string | undefined;
  resourceClaimStatuses?: PodResourceClaimStatus[] | undefined;
  extendedResourceClaimStatus?: PodExtendedResourceClaimStatus | undefined;
  allocatedResources?: Record<string, string> | undefined;
  resources?: ResourceRequirements | undefined;
  nodeAllocatableResourceClaimStatuses?: NodeAllocatableResourceClaimStatus[] | undefined;
}

export interface PodStatusResult {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  status?: PodStatus | undefined;
}

export interface PodTemplate {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  template?: PodTemplateSpec | undefined;
}

export interface PodTemplateList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: PodTemplate[];
}

export interface PodTemplateSpec {
  metadata?: ObjectMeta | undefined;
  spec?: PodSpec | undefined;
}

export interface PodWorkload {
  name: string;
  podGroup?: string | undefined;
  podGroupReplicaIndex?: number | undefined;
}

export interface PodWorkloadRef {
  name: string;
  podGroup?: string | undefined;
  podGroupReplicaKey?: string | undefined;
  podGroupName?: string | undefined;
}

export interface PodWorkloadReference {
  name: string;
  podGroup?: string | undefined;
  podGroupReplicaIndex?: number | undefined;
}

export interface PortStatus {
  port: number;
  protocol: string;
  error?: string | undefined;
}

export interface PortworxVolumeSource {
  volumeID: string;
  fsType?: string | undefined;
  readOnly?: boolean | undefined;
}

export interface PreferredSchedulingTerm {
  weight: number;
  preference: NodeSelectorTerm;
}

export interface Probe extends ProbeHandler {
  initialDelaySeconds?: number | undefined;
  timeoutSeconds?: number | undefined;
  periodSeconds?: number | undefined;
  successThreshold?: number | undefined;
  failureThreshold?: number | undefined;
  terminationGracePeriodSeconds?: number | undefined;
}

export interface ProbeHandler {
  exec?: ExecAction | undefined;
  httpGet?: HTTPGetAction | undefined;
  tcpSocket?: TCPSocketAction | undefined;
  grpc?: GRPCAction | undefined;
}

export interface ProjectedVolumeSource {
  sources?: VolumeProjection[] | undefined;
  defaultMode?: number | undefined;
}

export interface QuobyteVolumeSource {
  registry: string;
  volume: string;
  readOnly?: boolean | undefined;
  user?: string | undefined;
  group?: string | undefined;
  tenant?: string | undefined;
}

export interface RBDPersistentVolumeSource {
  monitors: string[];
  image: string;
  fsType?: string | undefined;
  pool?: string | undefined;
  user?: string | undefined;
  keyring?: string | undefined;
  secretRef?: SecretReference | undefined;
  readOnly?: boolean | undefined;
}

export interface RBDVolumeSource {
  monitors: string[];
  image: string;
  fsType?: string | undefined;
  pool?: string | undefined;
  user?: string | undefined;
  keyring?: string | undefined;
  secretRef?: LocalObjectReference | undefined;
  readOnly?: boolean | undefined;
}

export interface RangeAllocation {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  range: string;
  data: string;
}

export interface ReplicationController {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: ReplicationControllerSpec | undefined;
  status?: ReplicationControllerStatus | undefined;
}

export interface ReplicationControllerCondition {
  type: string;
  status: string;
  lastTransitionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
}

export interface ReplicationControllerList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ReplicationController[];
}

export interface ReplicationControllerSpec {
  replicas?: number | undefined;
  minReadySeconds?: number | undefined;
  selector?: Record<string, string> | undefined;
  template?: PodTemplateSpec | undefined;
}

export interface ReplicationControllerStatus {
  replicas: number;
  fullyLabeledReplicas?: number | undefined;
  readyReplicas?: number | undefined;
  availableReplicas?: number | undefined;
  observedGeneration?: number | undefined;
  conditions?: ReplicationControllerCondition[] | undefined;
}

export interface ResourceClaim {
  name: string;
  request?: string | undefined;
}

export interface ResourceFieldSelector {
  containerName?: string | undefined;
  resource: string;
  divisor?: string | undefined;
}

export interface ResourceHealth {
  resourceID: string;
  health?: string | undefined;
  message?: string | undefined;
}

export interface ResourceQuota {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: ResourceQuotaSpec | undefined;
  status?: ResourceQuotaStatus | undefined;
}

export interface ResourceQuotaList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ResourceQuota[];
}

export interface ResourceQuotaSpec {
  hard?: Record<string, string> | undefined;
  scopes?: string[] | undefined;
  scopeSelector?: ScopeSelector | undefined;
}

export interface ResourceQuotaStatus {
  hard?: Record<string, string> | undefined;
  used?: Record<string, string> | undefined;
}

export interface ResourceRequirements {
  limits?: Record<string, string> | undefined;
  requests?: Record<string, string> | undefined;
  claims?: ResourceClaim[] | undefined;
}

export interface ResourceStatus {
  name: string;
  resources?: ResourceHealth[] | undefined;
}

export interface SELinuxOptions {
  user?: string | undefined;
  role?: string | undefined;
  type?: string | undefined;
  level?: string | undefined;
}

export interface ScaleIOPersistentVolumeSource {
  gateway: string;
  system: string;
  secretRef?: SecretReference | undefined;
  sslEnabled?: boolean | undefined;
  protectionDomain?: string | undefined;
  storagePool?: string | undefined;
  storageMode?: string | undefined;
  volumeName?: string | undefined;
  fsType?: string | undefined;
  readOnly?: boolean | undefined;
}

export interface ScaleIOVolumeSource {
  gateway: string;
  system: string;
  secretRef?: LocalObjectReference | undefined;
  sslEnabled?: boolean | undefined;
  protectionDomain?: string | undefined;
  storagePool?: string | undefined;
  storageMode?: string | undefined;
  volumeName?: string | undefined;
  fsType?: string | undefined;
  readOnly?: boolean | undefined;
}

export interface ScopeSelector {
  matchExpressions?: ScopedResourceSelectorRequirement[] | undefined;
}

export interface ScopedResourceSelectorRequirement {
  scopeName: string;
  operator: string;
  values?: string[] | undefined;
}

export interface SeccompProfile {
  type: string;
  localhostProfile?: string | undefined;
}

export interface Secret {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  immutable?: boolean | undefined;
  data?: Record<string, string> | undefined;
  stringData?: Record<string, string> | undefined;
  type?: string | undefined;
}

export interface SecretEnvSource extends LocalObjectReference {
  optional?: boolean | undefined;
}

export interface SecretKeySelector extends LocalObjectReference {
  key: string;
  optional?: boolean | undefined;
}

export interface SecretList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Secret[];
}

export interface SecretProjection extends LocalObjectReference {
  items?: KeyToPath[] | undefined;
  optional?: boolean | undefined;
}

export interface SecretReference {
  name?: string | undefined;
  namespace?: string | undefined;
}

export interface SecretVolumeSource {
  secretName?: string | undefined;
  items?: KeyToPath[] | undefined;
  defaultMode?: number | undefined;
  optional?: boolean | undefined;
}

export interface SecurityContext {
  capabilities?: Capabilities | undefined;
  privileged?: boolean | undefined;
  seLinuxOptions?: SELinuxOptions | undefined;
  windowsOptions?: WindowsSecurityContextOptions | undefined;
  runAsUser?: number | undefined;
  runAsGroup?: number | undefined;
  runAsNonRoot?: boolean | undefined;
  readOnlyRootFilesystem?: boolean | undefined;
  allowPrivilegeEscalation?: boolean | undefined;
  procMount?: string | undefined;
  seccompProfile?: SeccompProfile | undefined;
  appArmorProfile?: AppArmorProfile | undefined;
}

export interface SerializedReference {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  reference?: ObjectReference | undefined;
}

export interface Service {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: ServiceSpec | undefined;
  status?: ServiceStatus | undefined;
}

export interface ServiceAccount {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  secrets?: ObjectReference[] | undefined;
  imagePullSecrets?: LocalObjectReference[] | undefined;
  automountServiceAccountToken?: boolean | undefined;
}

export interface ServiceAccountList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ServiceAccount[];
}

export interface ServiceAccountTokenProjection {
  audience?: string | undefined;
  expirationSeconds?: number | undefined;
  path: string;
}

export interface ServiceList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Service[];
}

export interface ServicePort {
  name?: string | undefined;
  protocol?: string | undefined;
  appProtocol?: string | undefined;
  port: number;
  targetPort?: number | string | undefined;
  nodePort?: number | undefined;
}

export interface ServiceProxyOptions {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  path?: string | undefined;
}

export interface ServiceSpec {
  ports?: ServicePort[] | undefined;
  selector?: Record<string, string> | undefined;
  clusterIP?: string | undefined;
  clusterIPs?: string[] | undefined;
  type?: string | undefined;
  externalIPs?: string[] | undefined;
  sessionAffinity?: string | undefined;
  loadBalancerIP?: string | undefined;
  loadBalancerSourceRanges?: string[] | undefined;
  externalName?: string | undefined;
  externalTrafficPolicy?: string | undefined;
  healthCheckNodePort?: number | undefined;
  publishNotReadyAddresses?: boolean | undefined;
  sessionAffinityConfig?: SessionAffinityConfig | undefined;
  ipFamilies?: string[] | undefined;
  ipFamilyPolicy?: string | undefined;
  allocateLoadBalancerNodePorts?: boolean | undefined;
  loadBalancerClass?: string | undefined;
  internalTrafficPolicy?: string | undefined;
  trafficDistribution?: string | undefined;
}

export interface ServiceStatus {
  loadBalancer?: LoadBalancerStatus | undefined;
  conditions?: Condition[] | undefined;
}

export interface SessionAffinityConfig {
  clientIP?: ClientIPConfig | undefined;
}

export interface SleepAction {
  seconds: number;
}

export interface StorageOSPersistentVolumeSource {
  volumeName?: string | undefined;
  volumeNamespace?: string | undefined;
  fsType?: string | undefined;
  readOnly?: boolean | undefined;
  secretRef?: ObjectReference | undefined;
}

export interface StorageOSVolumeSource {
  volumeName?: string | undefined;
  volumeNamespace?: string | undefined;
  fsType?: string | undefined;
  readOnly?: boolean | undefined;
  secretRef?: LocalObjectReference | undefined;
}

export interface Sysctl {
  name: string;
  value: string;
}

export interface TCPSocketAction {
  port: number | string;
  host?: string | undefined;
}

export interface Taint {
  key: string;
  value?: string | undefined;
  effect: string;
  timeAdded?: string | undefined;
}

export interface Toleration {
  key?: string | undefined;
  operator?: string | undefined;
  value?: string | undefined;
  effect?: string | undefined;
  tolerationSeconds?: number | undefined;
}

export interface TopologySelectorLabelRequirement {
  key: string;
  values: string[];
}

export interface TopologySelectorTerm {
  matchLabelExpressions?: TopologySelectorLabelRequirement[] | undefined;
}

export interface TopologySpreadConstraint {
  maxSkew: number;
  topologyKey: string;
  whenUnsatisfiable: string;
  labelSelector?: LabelSelector | undefined;
  minDomains?: number | undefined;
  nodeAffinityPolicy?: string | undefined;
  nodeTaintsPolicy?: string | undefined;
  matchLabelKeys?: string[] | undefined;
}

export interface TypedLocalObjectReference {
  apiGroup?: string | undefined;
  kind: string;
  name: string;
}

export interface TypedObjectReference {
  apiGroup?: string | undefined;
  kind: string;
  name: string;
  namespace?: string | undefined;
}

export interface Volume extends VolumeSource {
  name: string;
}

export interface VolumeDevice {
  name: string;
  devicePath: string;
}

export interface VolumeMount {
  name: string;
  readOnly?: boolean | undefined;
  recursiveReadOnly?: string | undefined;
  mountPath: string;
  subPath?: string | undefined;
  mountPropagation?: string | undefined;
  subPathExpr?: string | undefined;
}

export interface VolumeMountStatus {
  name: string;
  mountPath: string;
  readOnly?: boolean | undefined;
  recursiveReadOnly?: string | undefined;
  volumeStatus?: VolumeStatus | undefined;
}

export interface VolumeNodeAffinity {
  required?: NodeSelector | undefined;
}

export interface VolumeProjection {
  secret?: SecretProjection | undefined;
  downwardAPI?: DownwardAPIProjection | undefined;
  configMap?: ConfigMapProjection | undefined;
  serviceAccountToken?: ServiceAccountTokenProjection | undefined;
  clusterTrustBundle?: ClusterTrustBundleProjection | undefined;
  podCertificate?: PodCertificateProjection | undefined;
}

export interface VolumeResourceRequirements {
  limits?: Record<string, string> | undefined;
  requests?: Record<string, string> | undefined;
}

export interface VolumeSource {
  hostPath?: HostPathVolumeSource | undefined;
  emptyDir?: EmptyDirVolumeSource | undefined;
  gcePersistentDisk?: GCEPersistentDiskVolumeSource | undefined;
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource | undefined;
  gitRepo?: GitRepoVolumeSource | undefined;
  secret?: SecretVolumeSource | undefined;
  nfs?: NFSVolumeSource | undefined;
  iscsi?: ISCSIVolumeSource | undefined;
  glusterfs?: GlusterfsVolumeSource | undefined;
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource | undefined;
  rbd?: RBDVolumeSource | undefined;
  flexVolume?: FlexVolumeSource | undefined;
  cinder?: CinderVolumeSource | undefined;
  cephfs?: CephFSVolumeSource | undefined;
  flocker?: FlockerVolumeSource | undefined;
  downwardAPI?: DownwardAPIVolumeSource | undefined;
  fc?: FCVolumeSource | undefined;
  azureFile?: AzureFileVolumeSource | undefined;
  configMap?: ConfigMapVolumeSource | undefined;
  vsphereVolume?: VsphereVirtualDiskVolumeSource | undefined;
  quobyte?: QuobyteVolumeSource | undefined;
  azureDisk?: AzureDiskVolumeSource | undefined;
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource | undefined;
  projected?: ProjectedVolumeSource | undefined;
  portworxVolume?: PortworxVolumeSource | undefined;
  scaleIO?: ScaleIOVolumeSource | undefined;
  storageos?: StorageOSVolumeSource | undefined;
  csi?: CSIVolumeSource | undefined;
  ephemeral?: EphemeralVolumeSource | undefined;
  image?: ImageVolumeSource | undefined;
}

export interface VolumeStatus {
  image?: ImageVolumeStatus | undefined;
}

export interface VsphereVirtualDiskVolumeSource {
  volumePath: string;
  fsType?: string | undefined;
  storagePolicyName?: string | undefined;
  storagePolicyID?: string | undefined;
}

export interface WeightedPodAffinityTerm {
  weight: number;
  podAffinityTerm: PodAffinityTerm;
}

export interface WindowsSecurityContextOptions {
  gmsaCredentialSpecName?: string | undefined;
  gmsaCredentialSpec?: string | undefined;
  runAsUserName?: string | undefined;
  hostProcess?: boolean | undefined;
}
