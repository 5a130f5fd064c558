import { GROUP_BY } from '../../disruption/index.ts';
import type { LintRule } from '../finding.ts';
import { isMultiPod } from '../group-view.ts';
import type { PdbView } from '../pdb-view.ts';
import { countOf, shortNameOf, someOf } from '../pod-set.ts';

export const fallsBackToPods: LintRule = {
  name: 'falls-back-to-pods',
  severity: 'error',
  what: 'A budget that should count groups but has to count pods',
  why: 'A number meant for groups is then a number of pods, and a drain may break every group within it.',
  fix: 'Make every pod of a controller name its group in full, or none of them.',
  details:
    'A PodDisruptionBudget counts groups when the pods it selects name them. If some pods of one controller name a group ' +
    'and others do not, or a reference lacks a part, the units cannot be told and the whole budget counts pods. The ' +
    'condition PodGroupBudget on the budget says so in a cluster.',
  *check({ pdbs }) {
    for (const { count, object, pods } of pdbs) {
      const { fallback, reason } = count.mode;
      if (!fallback || (reason !== 'PartiallyLabelled' && reason !== 'IncompleteReference')) continue;
      const message =
        reason === 'PartiallyLabelled'
          ? `some pods of ${someOf(pods.map(({ set }) => shortNameOf(set.root)))} name a group and others do not; it counts pods`
          : `some pods say in part only which group they are in (${someOf(pods.map(({ set }) => shortNameOf(set.root)))}); it counts pods`;
      yield { object, path: 'spec.selector', message };
    }
  },
};

export const mixedBudget: LintRule = {
  name: 'mixed-budget',
  severity: 'warning',
  what: 'A budget over groups that also selects pods in no group',
  why: 'Those pods are in none of its numbers: they may all go at once while the budget holds.',
  fix: 'Give the pods in no group a budget of their own.',
  details:
    'Once a PodDisruptionBudget counts groups, a pod that stands for itself cannot be added to the same number. Such ' +
    'pods are left out of every count and may be evicted as long as enough groups are up. The event MixedPodGroups says ' +
    'so in a cluster.',
  *check({ pdbs }) {
    for (const { count, object } of pdbs) {
      if (count.mode.unit !== 'PodGroup' || count.mode.individual === 0 || count.budget.scope === 'PodGroup') continue;
      const message = `selects ${countOf(count.mode.individual, 'pod')} in no group, which the budget does not count`;
      yield { object, path: 'spec.selector', message };
    }
  },
};

export const groupCountedAsPods: LintRule = {
  name: 'group-counted-as-pods',
  severity: 'warning',
  what: 'A PodDisruptionBudget that counts the pods of a LeaderWorkerSet or JobSet one by one',
  why: 'Within a number of pods a drain may take one pod of every group, and all groups are down.',
  fix: `Annotate the budget with ${GROUP_BY}: leaderworkerset (or jobset), or use a PodUnavailableBudget with podGroupPolicy.`,
  details:
    'Pods that name a PodGroup or Workload are counted in groups without further ado. Pods that only the labels of a ' +
    `LeaderWorkerSet or JobSet hold together are counted in groups when the budget asks for it with the annotation ${GROUP_BY}.`,
  *check({ covering, groups }) {
    const found = new Map<PdbView, { marked: string; roots: string[] }>();
    for (const group of groups) {
      if (group.marked === 'Link' || !isMultiPod(group)) continue;
      for (const pod of group.members) {
        for (const view of covering(pod).pdbs) {
          const { budget, mode } = view.count;
          if (mode.unit !== 'Pod' || budget.groupBy !== undefined || budget.scope === 'Pod') continue;
          const known = found.get(view) ?? { marked: group.marked, roots: [] };
          known.roots.push(shortNameOf(pod.set.root));
          found.set(view, known);
        }
      }
    }
    for (const [view, { marked, roots }] of found) {
      yield {
        object: view.object,
        path: 'metadata.annotations',
        message: `counts single pods of ${someOf(roots)}, whose groups stand or fall as a whole`,
        fix: `Add the annotation ${GROUP_BY}: ${marked.toLowerCase()}, or use a PodUnavailableBudget with podGroupPolicy.`,
      };
    }
  },
};
