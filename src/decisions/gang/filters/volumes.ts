import type { PersistentVolume } from '../../../api/generated/core-v1.ts';
import { compileNodeTerms, matchesNodeTerms, type NodeTerm } from '../cluster/node-selection.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import { type Rejection, rejection } from './rejection.ts';

/** Where the volume behind a claim can be used; undefined: anywhere, or not known yet. */
export type VolumeTerms = readonly NodeTerm[] | undefined;

const ELSEWHERE = rejection('VolumeBinding', "node(s) didn't match PersistentVolume's node affinity", false);

export function volumeTerms({ spec }: PersistentVolume): VolumeTerms {
  const required = spec?.nodeAffinity?.required;
  return required === undefined ? undefined : compileNodeTerms(required.nodeSelectorTerms);
}

export function checkVolumes(volumes: readonly VolumeTerms[], node: NodeFacts): Rejection | undefined {
  for (const terms of volumes) {
    if (terms !== undefined && !matchesNodeTerms(terms, node.labels, node.name)) return ELSEWHERE;
  }
  return undefined;
}
