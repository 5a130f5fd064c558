import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { budgetViews, MARK_WORDS, MARKS } from '../../fleet/index.ts';
import { type Layout, layOut } from '../matrix/layout.ts';
import { Matrix } from '../matrix/matrix.tsx';
import { MarkIcon } from '../parts/mark.tsx';
import { goTo, hrefOf } from '../route.ts';
import { choose, chosen, fleet, now, revision } from '../store.ts';
import { FilterBar } from './filter-bar.tsx';
import { filterGroups, filterNodes, filters } from './filters.ts';

const SIZES = [2, 3, 5, 8, 12, 16, 20, 24, 30];
/** Undefined until somebody zooms: then the size goes by how much there is to show. */
const zoomed = signal<number | undefined>(undefined);

const fitting = (nodes: number): number => (nodes <= 24 ? 7 : nodes <= 60 ? 6 : nodes <= 300 ? 4 : 3);

export function FleetScreen() {
  void revision.value;
  const layout = useLayout();
  const level = zoomed.value ?? fitting(layout.rows.length);
  const zoom = (by: number): void => {
    zoomed.value = Math.max(0, Math.min(SIZES.length - 1, level + by));
  };
  return (
    <>
      <Summary />
      <section class="card fill" aria-label="Nodes and groups">
        <div class="card-head">
          <FilterBar problem={filterProblem()} />
          <div class="zoom" role="group" aria-label="Zoom">
            <button type="button" onClick={() => zoom(-1)} disabled={level === 0} aria-label="Zoom out">
              −
            </button>
            <button type="button" onClick={() => zoom(1)} disabled={level === SIZES.length - 1} aria-label="Zoom in">
              +
            </button>
          </div>
        </div>
        {layout.rows.length === 0 ? (
          <p class="empty">
            {fleet().shownNodes().length === 0 ? 'There are no nodes to see.' : 'No node holds such a group.'}
          </p>
        ) : (
          <Matrix
            layout={layout}
            chosen={chosen.value}
            cell={SIZES[level] as number}
            zoom={zoom}
            toggle={choose}
            open={(group) => goTo('groups', group.id)}
          />
        )}
        <Choosing />
      </section>
    </>
  );
}

let lastProblem: string | undefined;
const filterProblem = (): string | undefined => lastProblem;

/** Laid out anew only when something moved; marks are looked up as they are drawn. */
function useLayout(): Layout {
  const state = fleet();
  const { groups, problem } = filterGroups(state, filters.value);
  lastProblem = problem;
  const nodes = filterNodes(state, groups, filters.value);
  const cordons = nodes.map((node) => (node.spec?.unschedulable === true ? '1' : '0')).join('');
  const layout = useMemo(
    () => layOut(nodes, groups),
    [state, state.groups.layoutRevision, filters.value, nodes.length, cordons, groups.length, nodeHealth(nodes)],
  );
  const all = state.groups.all();
  return { ...layout, columns: layout.columns.map((group) => all.get(group.id) ?? group) };
}

const nodeHealth = (nodes: ReturnType<typeof filterNodes>): number =>
  nodes.filter((node) => node.status?.conditions?.some(({ status, type }) => type === 'Ready' && status !== 'True'))
    .length;

function Summary() {
  const state = fleet();
  const counts = new Map<string, number>();
  for (const { mark } of state.groups.all().values()) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  const stuck = budgetViews(state, now()).filter(({ allowed, pods }) => allowed <= 0 && pods > 0);
  return (
    <section class="summary" aria-label="Groups by state">
      {[...MARKS].reverse().map((mark) => (
        <button
          key={mark}
          type="button"
          class="stat"
          title={MARK_WORDS[mark].means}
          aria-pressed={filters.value.mark === mark}
          onClick={() => (filters.value = { ...filters.value, mark: filters.value.mark === mark ? '' : mark })}
        >
          <MarkIcon mark={mark} size={18} />
          <strong>{counts.get(mark) ?? 0}</strong>
          <span>{MARK_WORDS[mark].label}</span>
        </button>
      ))}
      <a class={`stat ${stuck.length > 0 ? 'alert' : ''}`} href={hrefOf('budgets')}>
        <strong>{stuck.length}</strong>
        <span>{stuck.length === 1 ? 'budget lets nothing go' : 'budgets let nothing go'}</span>
      </a>
    </section>
  );
}

function Choosing() {
  const count = chosen.value.size;
  return (
    <div class="choosing">
      {count === 0 ? (
        <span class="hint">Click a node to choose it for a drain, a mark to see its group.</span>
      ) : (
        <>
          <span>
            {count} {count === 1 ? 'node' : 'nodes'} chosen
          </span>
          <a class="button" href={hrefOf('drain')}>
            Plan a drain
          </a>
          <a class="button quiet" href={hrefOf('what-if')}>
            What if they fail?
          </a>
          <button type="button" class="quiet" onClick={() => (chosen.value = new Set())}>
            Clear
          </button>
        </>
      )}
    </div>
  );
}
