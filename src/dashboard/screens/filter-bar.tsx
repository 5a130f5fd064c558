import { byName } from '../../fleet/index.ts';
import { poolOf } from '../matrix/layout.ts';
import { fleet, revision } from '../store.ts';
import { type Filters, filters, NO_FILTERS } from './filters.ts';

const set = (change: Partial<Filters>): void => {
  filters.value = { ...filters.value, ...change };
};

export function FilterBar({ pools = true, problem }: { pools?: boolean; problem?: string | undefined }) {
  void revision.value;
  const now = fleet();
  const { budget, labels, namespace, pool, text } = filters.value;
  const namespaces = [...new Set([...now.groups.all().values()].map((group) => group.namespace))].sort(byName);
  const budgets = [...now.index.budgets()].map((one) => `pdb/${one.namespace}/${one.name}`).sort(byName);
  const poolNames = [...new Set([...now.nodes.values()].map(poolOf))].filter((one) => one !== '').sort(byName);
  const isFiltered = Object.values(filters.value).some((value) => value !== '');
  return (
    <form class="filters" role="search" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        aria-label="Find a group or node"
        placeholder="Find a group or node"
        value={text}
        onInput={(event) => set({ text: event.currentTarget.value })}
      />
      <Choice
        label="Namespace"
        all="All namespaces"
        value={namespace}
        options={namespaces}
        set={(value) => set({ namespace: value })}
      />
      <Choice
        label="Budget"
        all="Any budget"
        value={budget}
        options={budgets}
        set={(value) => set({ budget: value })}
      />
      {pools && poolNames.length > 0 && (
        <Choice label="Pool" all="All pools" value={pool} options={poolNames} set={(value) => set({ pool: value })} />
      )}
      <input
        type="text"
        aria-label="Pod labels"
        placeholder="Labels: app=training"
        value={labels}
        aria-invalid={problem !== undefined}
        onInput={(event) => set({ labels: event.currentTarget.value })}
      />
      {isFiltered && (
        <button type="button" class="quiet" onClick={() => (filters.value = NO_FILTERS)}>
          Clear
        </button>
      )}
      {problem !== undefined && <span class="problem">{problem}</span>}
    </form>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly all: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly set: (value: string) => void;
}

export function Choice({ all, label, options, set: choose, value }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => choose(event.currentTarget.value)}>
      <option value="">{all}</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  );
}
