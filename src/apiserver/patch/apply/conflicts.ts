import { type FieldSet, membersOf } from './field-set.ts';
import type { Manager, Managers } from './managed-fields.ts';
import { formatPath } from './path-element.ts';

/** One field another manager owns with a different value. */
export interface Conflict {
  /** The manager as messages name it: `"kubectl" using apps/v1`. */
  readonly manager: string;
  readonly field: string;
  readonly path: readonly string[];
}

export interface ConflictCause {
  readonly reason: 'FieldManagerConflict';
  readonly message: string;
  readonly field: string;
}

export function conflictsOf(taken: ReadonlyMap<string, FieldSet>, managers: Managers): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [id, fields] of taken) {
    const manager = managers.get(id);
    if (manager === undefined) continue;
    for (const path of membersOf(fields)) {
      conflicts.push({ manager: formatManager(manager), field: formatPath(path), path });
    }
  }
  return conflicts.sort((a, b) => (a.manager < b.manager ? -1 : a.manager > b.manager ? 1 : 0));
}

function formatManager({ manager, subresource, operation, apiVersion }: Manager): string {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}

export function conflictCauses(conflicts: readonly Conflict[]): ConflictCause[] {
  return conflicts.map(({ manager, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${manager}`,
    field,
  }));
}

export function conflictMessage(conflicts: readonly Conflict[]): string {
  const [only] = conflicts;
  if (only !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${only.manager}: ${only.field}`;
  }
  const lines: string[] = [];
  for (const manager of new Set(conflicts.map((conflict) => conflict.manager))) {
    lines.push(`conflicts with ${manager}:`);
    for (const conflict of conflicts) if (conflict.manager === manager) lines.push(`- ${conflict.field}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}
