import type { Node } from '../../api/generated/core-v1.ts';
import { isFinished, type Maintenance, type MaintenanceNodes } from '../../api/quorate/maintenance.ts';
import { fromLabelSelector, matches } from '../../machinery/values/index.ts';

export interface ChosenNodes {
  /** In the order of their names, which is the order they are claimed in. */
  readonly names: readonly string[];
  /** Named, and not there. */
  readonly missing: readonly string[];
}

/** The nodes that a Maintenance stands for, of those there are. */
export function chooseNodes({ all, names = [], selector }: MaintenanceNodes, nodes: readonly Node[]): ChosenNodes {
  const known = new Map(nodes.map((node) => [node.metadata.name ?? '', node]));
  const chosen = new Set(all === true ? known.keys() : names.filter((name) => known.has(name)));
  if (selector !== undefined) {
    const wanted = fromLabelSelector(selector);
    for (const [name, { metadata }] of known) if (matches(wanted, metadata.labels)) chosen.add(name);
  }
  return { names: [...chosen].sort(), missing: names.filter((name) => !known.has(name)).sort() };
}

/** Says which unfinished Maintenances have nodes of this one. */
export function overlapWarnings(
  maintenance: Maintenance,
  others: readonly Maintenance[],
  nodes: readonly Node[],
): string[] {
  const mine = new Set(chooseNodes(maintenance.spec?.nodes ?? {}, nodes).names);
  return others.flatMap((other) => {
    if (isFinished(other) || other.spec?.source !== undefined || other.metadata.name === maintenance.metadata.name)
      return [];
    const shared = chooseNodes(other.spec?.nodes ?? {}, nodes).names.filter((name) => mine.has(name));
    const [first] = shared;
    if (first === undefined) return [];
    const more = shared.length === 1 ? '' : ` and ${shared.length - 1} more`;
    return [
      `maintenance ${other.metadata.name ?? ''} is not finished and has node ${first}${more}: one waits for the other`,
    ];
  });
}
