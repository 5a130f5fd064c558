// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { PersistentVolumeSpec, TopologySelectorTerm } from './core-v1.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface CSIDriver {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: CSIDriverSpec | undefined;
}

export interface CSIDriverList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: CSIDriver[];
}

export interface CSIDriverSpec {
  attachRequired?: boolean | undefined;
  podInfoOnMount?: boolean | undefined;
  volumeLifecycleModes?: string[] | undefined;
  storageCapacity?: boolean | undefined;
  fsGroupPolicy?: string | undefined;
  tokenRequests?: TokenRequest[] | undefined;
  requiresRepublish?: boolean | undefined;
  seLinuxMount?: boolean | undefined;
  nodeAllocatableUpdatePeriodSeconds?: number | undefined;
  serviceAccountTokenInSecrets?: boolean | undefined;
  preventPodSchedulingIfMissing?: boolean | undefined;
}

export interface CSINode {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: CSINodeSpec | undefined;
}

export interface CSINodeDriver {
  name: string;
  nodeID: string;
  topologyKeys?: string[] | undefined;
  allocatable?: VolumeNodeResources | undefined;
}

export interface CSINodeList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: CSINode[];
}

export interface CSINodeSpec {
  drivers: CSINodeDriver[];
}

export interface CSIStorageCapacity {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  nodeTopology?: LabelSelector | undefined;
  storageClassName: string;
  capacity?: string | undefined;
  maximumVolumeSize?: string | undefined;
}

export interface CSIStorageCapacityList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: CSIStorageCapacity[];
}

export interface StorageClass {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  provisioner: string;
  parameters?: Record<string, string> | undefined;
  reclaimPolicy?: string | undefined;
  mountOptions?: string[] | undefined;
  allowVolumeExpansion?: boolean | undefined;
  volumeBindingMode?: string | undefined;
  allowedTopologies?: TopologySelectorTerm[] | undefined;
}

export interface StorageClassList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: StorageClass[];
}

export interface TokenRequest {
  audience: string;
  expirationSeconds?: number | undefined;
}

export interface VolumeAttachment {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: VolumeAttachmentSpec | undefined;
  status?: VolumeAttachmentStatus | undefined;
}

export interface VolumeAttachmentList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: VolumeAttachment[];
}

export interface VolumeAttachmentSource {
  persistentVolumeName?: string | undefined;
  inlineVolumeSpec?: PersistentVolumeSpec | undefined;
}

export interface VolumeAttachmentSpec {
  attacher: string;
  source: VolumeAttachmentSource;
  nodeName: string;
}

export interface VolumeAttachmentStatus {
  attached: boolean;
  attachmentMetadata?: Record<string, string> | undefined;
  attachError?: VolumeError | undefined;
  detachError?: VolumeError | undefined;
}

export interface VolumeAttributesClass {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  driverName: string;
  parameters?: Record<string, string> | undefined;
}

export interface VolumeAttributesClassList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: VolumeAttributesClass[];
}

export interface VolumeError {
  time?: string | undefined;
  message?: string | undefined;
  errorCode?: number | undefined;
}

export interface VolumeNodeResources {
  count?: number | undefined;
}
