import { blocked, budgetViews, type ShownBudget, unblockingCommand } from '../../fleet/index.ts';
import { CopyCommand } from '../parts/copy.tsx';
import { Gauge, GaugeLegend } from '../parts/gauge.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { goTo, route } from '../route.ts';
import { fleet, history, now, revision } from '../store.ts';

export function Budgets() {
  void revision.value;
  const at = now();
  const views = budgetViews(fleet(), at);
  const open = route.value.of;
  if (views.length === 0) return <p class="empty">No budget guards anything here.</p>;
  return (
    <section aria-label="Budgets">
      <div class="screen-head">
        <p class="lead">
          {views.filter((view) => blocked(view) > 0).length} of {views.length} budgets let nothing go now. The one that
          holds back the most pods comes first.
        </p>
        <GaugeLegend />
      </div>
      <ul class="budgets">
        {views.map((view) => (
          <li key={view.id}>
            <Budget view={view} at={at} open={view.id === open} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Budget({ at, open, view }: { view: ShownBudget; at: number; open: boolean }) {
  const { allowed, asks, counts, desired, expected, granted, healthy, id, kind, name, namespace, pods } = view;
  const units = counts === 'PodGroup' ? 'groups' : 'pods';
  const stuck = blocked(view) > 0;
  return (
    <article class={`card budget ${stuck ? 'stuck' : ''}`} aria-label={`${kind} ${name} in ${namespace}`}>
      <button type="button" class="budget-head" aria-expanded={open} onClick={() => goTo('budgets', open ? '' : id)}>
        <span class="budget-name">
          <span class="kind">{kind}</span> <strong>{name}</strong> <span class="faint">{namespace}</span>
        </span>
        <span class={`allowed ${stuck ? 'none' : ''}`}>
          {pods === 0 ? 'selects no pod' : allowed <= 0 ? 'nothing may go' : `${allowed} may go`}
        </span>
      </button>
      <Gauge view={view} />
      <p class="numbers">
        <span>
          <strong>{healthy}</strong> of {expected || '?'} {units} healthy
        </span>
        <span>
          <strong>{desired}</strong> needed
        </span>
        <span class="faint">
          {asks}, {pods} pods
        </span>
        {granted > 0 && <span>{granted} evictions granted and under way</span>}
      </p>
      {open && <Why view={view} at={at} />}
    </article>
  );
}

function Why({ at, view }: { view: ShownBudget; at: number }) {
  const command = unblockingCommand(view);
  const lines = view.why(at);
  return (
    <div class="why">
      <h2>Why</h2>
      <ul>
        {lines.map((text) => (
          <li key={text} class={/^(To allow|To unblock|Or)\b/.test(text) ? 'remedy' : undefined}>
            {text}
          </li>
        ))}
      </ul>
      {command !== undefined && (
        <>
          <h3>The smallest change of the budget that would let one more go</h3>
          <CopyCommand command={command} />
        </>
      )}
      <h3>Healthy since this page was opened</h3>
      <Sparkline samples={history.of(view.id)} now={at} />
      <p class="hint">
        The same in a terminal: <code>{`quorate why ${view.kind}/${view.name} -n ${view.namespace}`}</code>
      </p>
    </div>
  );
}
