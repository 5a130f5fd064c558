import { nodeType } from '../../api/resource-types.ts';
import type { Client } from '../../machinery/runtime/index.ts';

/** The nodes that were named, or every one with these labels. */
export async function nodesOf(
  client: Client,
  named: readonly string[],
  selector: string | undefined,
): Promise<readonly string[]> {
  if (selector === undefined) return named;
  const { items } = await client.list(nodeType, { labelSelector: selector });
  if (items.length > 0) return items.map(({ metadata }) => metadata.name ?? '');
  throw new Error(`no node has the labels ${selector}; kubectl get nodes --show-labels shows what they have`);
}
