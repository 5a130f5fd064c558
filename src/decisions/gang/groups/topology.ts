import type { CompositePodGroup } from '../../../api/generated/scheduling-v1alpha3.ts';
import type { TopologyRule } from '../../placement/index.ts';
import { MAX_LEVELS } from './tree.ts';
import type { GroupTerms } from './terms.ts';

/**
 * What a group, and every composite above it, ask of the nodes of its pods, nearest first. A chain that is broken ends
 * where it breaks: its pods wait anyway.
 */
export function topologyRules(
  { podGroup, topologyKey }: GroupTerms,
  namespace: string,
  composite: (name: string) => CompositePodGroup | undefined,
): TopologyRule[] {
  const rules: TopologyRule[] = topologyKey === undefined ? [] : [{ key: topologyKey, mode: 'Required' }];
  let parent = podGroup?.spec.parentCompositePodGroupName;
  for (let level = 2; parent !== undefined && level <= MAX_LEVELS; level += 1) {
    const spec = composite(parent)?.spec;
    const key = spec?.schedulingConstraints?.topology?.[0]?.key;
    if (key !== undefined) rules.push({ key, mode: 'Required', among: `${namespace}/${parent}` });
    parent = spec?.parentCompositePodGroupName;
  }
  return rules;
}
