import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../src/api/generated/core-v1.ts';
import type { DeviceClass, ResourceClaimSpec, ResourceSlice } from '../../src/api/generated/resource-v1.ts';

/** One cluster and one question: does this group fit once these nodes and pods are gone? */
export interface Scene {
  readonly seed: number;
  /** Its namespace, and the beginning of every name and label key in it: many scenes share one control plane. */
  readonly id: string;
  readonly nodes: readonly Node[];
  /** Pods that stand on a node (`spec.nodeName`); those with a deletion time are on their way out. */
  readonly placed: readonly Pod[];
  readonly volumes: readonly PersistentVolume[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly classes: readonly DeviceClass[];
  readonly slices: readonly ResourceSlice[];
  /** What each asked pod claims, by a template of this name. */
  readonly devices: ResourceClaimSpec | undefined;
  readonly gone: { readonly nodes: ReadonlySet<string>; readonly pods: ReadonlySet<string> };
  readonly group: GroupTerms | undefined;
  readonly asked: readonly Pod[];
  /** How many of the asked pods must find a place. */
  readonly need: number;
  /** What the draw put in, for reports. */
  readonly traits: readonly string[];
}

/** What the asked pods' PodGroup says; pods without one are plain. */
export interface GroupTerms {
  readonly policy: 'gang' | 'basic';
  readonly minCount: number;
  readonly topologyKey: string | undefined;
}

export const GROUP_NAME = 'asked';
export const DEVICES = 'devices';

/** The part of a scene that is there before the question. */
export type Standing = Pick<Scene, 'gone' | 'nodes' | 'placed'>;

/** Nodes and pods that are left when the change has happened. */
export function remaining({ gone, nodes, placed }: Standing): { nodes: readonly Node[]; placed: readonly Pod[] } {
  const left = nodes.filter(({ metadata }) => !gone.nodes.has(metadata.name ?? ''));
  const standing = placed.filter(
    ({ metadata, spec }) => !gone.pods.has(metadata.name ?? '') && !gone.nodes.has(spec?.nodeName ?? ''),
  );
  return { nodes: left, placed: standing };
}
