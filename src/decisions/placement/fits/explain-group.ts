import type { Cluster } from '../cluster/cluster.ts';
import type { NodePool } from '../cluster/node-pools.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { explainPod, totalOf } from './explain.ts';
import { type Kind, kindsOf } from './kinds.ts';
import {
  type Answer,
  type Assignment,
  type Binding,
  type Domain,
  EXACT,
  type GroupAsk,
  type NearMiss,
  type NoProof,
} from './model.ts';
import { Attempt, Effort, placeTightest } from './search.ts';

/** A no that has not been explained yet: explaining costs more than deciding. */
export interface BareNo {
  readonly fits: 'No';
  readonly proof: NoProof;
  readonly tries: readonly DomainTry[];
  readonly refused?: { readonly binding: Binding; readonly nearMiss: NearMiss } | undefined;
}

export interface DomainTry {
  readonly domain: Domain | undefined;
  readonly pool: NodePool;
  readonly proof: NoProof;
  readonly placed: number;
}

/** Pods that have no place yet, by kind. */
export function restOf(kinds: readonly Kind[], where: readonly Assignment[]): Kind[] {
  const done = new Set(where.map(({ pod }) => pod.uid));
  return kinds
    .map((kind) => ({ ...kind, pods: kind.pods.filter(({ uid }) => !done.has(uid)) }))
    .filter(({ pods }) => pods.length > 0);
}

/** A no with its explanation, made while its siblings stand. */
export function explained(ask: GroupAsk, no: BareNo, cluster: Cluster): BareNo {
  const answer = explainNo(ask, no, cluster);
  return answer.fits === 'No' ? { ...no, refused: { binding: answer.binding, nearMiss: answer.nearMiss } } : no;
}

/** Finds what binds, and how near the group came. */
export function explainNo(ask: GroupAsk, { proof, refused, tries }: BareNo, cluster: Cluster): Answer {
  if (refused !== undefined) return { fits: 'No', ...refused, proof, confidence: EXACT };
  const attempt = new Attempt(cluster, ask.unit);
  const kinds = kindsOf(ask.pods, cluster);
  const tried = tries.map((one) => ({ tried: one, ...explainTry(ask, one, { attempt, kinds }) }));
  tried.sort(
    (a, b) =>
      b.nearMiss.placed - a.nearMiss.placed ||
      (b.binding.total?.free ?? 0) - (a.binding.total?.free ?? 0) ||
      (domainText(a.tried) < domainText(b.tried) ? -1 : 1),
  );
  const [best] = tried;
  if (best === undefined) return { fits: 'Unknown', because: { reason: 'SearchLimit' }, confidence: EXACT };
  const { binding, nearMiss } = best;
  const { domain } = best.tried;
  if (domain === undefined) return { fits: 'No', binding, nearMiss, proof, confidence: EXACT };
  const [key = ''] = Object.keys(domain.labels);
  return {
    fits: 'No',
    binding: { ...binding, scope: 'Domain', constraint: { filter: 'Topology', key, cause: 'DomainTooSmall' } },
    nearMiss: {
      ...nearMiss,
      domain,
      missing: [binding.constraint, ...nearMiss.missing.filter((one) => one !== binding.constraint)],
      largest: Math.max(...tries.map(({ pool }) => pool.nodes.length)),
    },
    proof,
    confidence: EXACT,
  };
}

const domainText = ({ domain }: DomainTry): string => Object.values(domain?.labels ?? {}).join('/');

function explainTry(
  ask: GroupAsk,
  { pool }: DomainTry,
  { attempt, kinds }: { attempt: Attempt; kinds: readonly Kind[] },
): { binding: Binding; nearMiss: NearMiss } {
  const effort = new Effort(Number.POSITIVE_INFINITY);
  const { nodes } = pool;
  placeTightest(kinds, pool, { attempt, effort });
  const placed = attempt.where.length;
  const pod = restOf(kinds, attempt.where)[0]?.pods[0] ?? (ask.pods[0] as PodFacts);
  const miss = explainPod(pod, nodes, attempt);
  attempt.rollback();
  const total = totalOf(miss.binding.constraint, ask.pods, { attempt, nodes });
  return {
    binding: { ...miss.binding, scope: ask.pods.length === 1 ? 'Node' : 'Cluster', ...(total && { total }) },
    nearMiss: { node: miss.node, placed, of: ask.pods.length, missing: miss.missing },
  };
}
