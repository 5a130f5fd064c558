import type { KnowledgeLine } from '../../api/ui/stream.ts';
import { fleet, revision } from '../store.ts';

/** Says plainly what may not be read: what depends on it cannot be told. */
export function KnowledgeNotes() {
  void revision.value;
  const lines = [...fleet().known.values()];
  const forbidden = lines.filter(({ how }) => how === 'Forbidden').map(({ known }) => known);
  const partly = lines.filter(({ how }) => how === 'Partly');
  if (forbidden.length === 0 && partly.length === 0) return null;
  return (
    <aside class="notice" aria-label="What you may not read">
      {partly.length > 0 && <p>You see {namespacesOf(partly)} only. Budgets and groups elsewhere are not shown.</p>}
      {forbidden.length > 0 && (
        <p>You may not list {forbidden.join(', ')}: answers that depend on them are left out or say so.</p>
      )}
    </aside>
  );
}

function namespacesOf(lines: readonly KnowledgeLine[]): string {
  const names = [...new Set(lines.flatMap(({ namespaces = [] }) => namespaces))].sort();
  return `${names.length === 1 ? 'namespace' : 'namespaces'} ${names.join(', ')}`;
}
