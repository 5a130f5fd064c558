import { signal } from '@preact/signals';
import { formatPodExplanation } from '../../decisions/all-budgets/index.ts';
import { byName, type MadePlan, makePlan, runningDrains, stepStates } from '../../fleet/index.ts';
import { poolOf } from '../matrix/layout.ts';
import { CopyCommand } from '../parts/copy.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { hrefOf } from '../route.ts';
import { choose, chosen, fleet, now, revision, session } from '../store.ts';
import { cordonChange, drainChange } from '../writes/changes.ts';
import { ask } from '../writes/confirm.tsx';
import { ReplayScreen } from './replay.tsx';
import { Maintenances } from './maintenances.tsx';

const nodesReturn = signal(true);
const made = signal<MadePlan | undefined>(undefined);
const busy = signal(false);

export function Drain() {
  void revision.value;
  return (
    <div class="columns">
      <section class="card" aria-label="Plan a drain">
        <h2>Plan a drain</h2>
        <Chooser />
        {made.value !== undefined && <Plan plan={made.value} />}
      </section>
      <UnderWay />
      <ReplayScreen />
    </div>
  );
}

function plan(): void {
  busy.value = true;
  // The page shows that it is busy before it is.
  setTimeout(() => {
    made.value = makePlan(fleet(), { nodes: chosen.value, nodesReturn: nodesReturn.value }, now());
    busy.value = false;
  }, 20);
}

function Chooser() {
  const nodes = [...fleet().nodes.values()].sort((a, b) => byName(a.metadata.name ?? '', b.metadata.name ?? ''));
  const names = nodes.map(({ metadata }) => metadata.name ?? '');
  const pools = [...new Set(nodes.map(poolOf))].filter((pool) => pool !== '').sort(byName);
  const picked = names.filter((name) => chosen.value.has(name));
  return (
    <form class="chooser" onSubmit={(event) => (event.preventDefault(), plan())}>
      <div class="row">
        <button type="button" class="quiet" onClick={() => choose(names, true)}>
          All {names.length} nodes
        </button>
        {pools.map((pool) => (
          <button
            key={pool}
            type="button"
            class="quiet"
            onClick={() =>
              choose(
                nodes.filter((node) => poolOf(node) === pool).map(({ metadata }) => metadata.name ?? ''),
                true,
              )
            }
          >
            Pool {pool}
          </button>
        ))}
        <a href={hrefOf('fleet')} class="button quiet">
          Choose in the matrix
        </a>
        {picked.length > 0 && (
          <button type="button" class="quiet" onClick={() => (chosen.value = new Set())}>
            Clear
          </button>
        )}
      </div>
      <NodeChips names={names} />
      <div class="row">
        <label>
          <input
            type="checkbox"
            checked={nodesReturn.value}
            onChange={(event) => (nodesReturn.value = event.currentTarget.checked)}
          />{' '}
          The nodes come back, as in an upgrade
        </label>
        <button type="submit" class="primary" disabled={picked.length === 0 || busy.value}>
          {busy.value ? 'Planning…' : `Plan a drain of ${picked.length} ${picked.length === 1 ? 'node' : 'nodes'}`}
        </button>
        {session.value?.writes === true && <CordonButtons picked={picked} />}
      </div>
    </form>
  );
}

function CordonButtons({ picked }: { picked: readonly string[] }) {
  const open = picked.filter((name) => !fleet().isCordoned(name));
  const closed = picked.filter((name) => fleet().isCordoned(name));
  return (
    <>
      <button type="button" disabled={open.length === 0} onClick={() => ask(cordonChange(open, true))}>
        Cordon…
      </button>
      <button type="button" disabled={closed.length === 0} onClick={() => ask(cordonChange(closed, false))}>
        Uncordon…
      </button>
    </>
  );
}

const MOST_CHIPS = 60;

function NodeChips({ names }: { names: readonly string[] }) {
  const shown = [...names].sort((a, b) => Number(chosen.value.has(b)) - Number(chosen.value.has(a)) || byName(a, b));
  return (
    <fieldset class="chips">
      <legend class="offscreen">Nodes to drain</legend>
      {shown.slice(0, MOST_CHIPS).map((name) => (
        <label key={name} class={`chip ${chosen.value.has(name) ? 'on' : ''}`}>
          <input
            type="checkbox"
            checked={chosen.value.has(name)}
            onChange={(event) => choose([name], event.currentTarget.checked)}
          />
          {name}
        </label>
      ))}
      {shown.length > MOST_CHIPS && <span class="hint">and {shown.length - MOST_CHIPS} more, in the matrix</span>}
    </fieldset>
  );
}

function Plan({ plan: made }: { plan: MadePlan }) {
  const { kept, naive, plan } = made;
  const states = stepStates(made, fleet());
  const done = states.filter((state) => state === 'Done').length;
  return (
    <div class="plan">
      <div class="figures" role="group" aria-label="The plan in figures">
        <Figure value={plan.steps.length} label={plan.steps.length === 1 ? 'step' : 'steps'} />
        <Figure value={plan.disruptions} label={plan.disruptions === 1 ? 'group goes down' : 'groups go down'} strong />
        <Figure value={plan.lowerBound} label="at least, in any plan" />
        {/* A plan that leaves some where they are is not to be compared with one that does not ask. */}
        {plan.blocked.length === 0 && (
          <Figure value={naive.disruptions} label="node after node" worse={naive.disruptions > plan.disruptions} />
        )}
        {done > 0 && <Figure value={`${done}/${plan.steps.length}`} label="steps done" />}
      </div>
      {kept !== undefined && <p class="hint">{kept} is left for last: the others move to it.</p>}
      {plan.steps.length === 0 ? (
        <p class="empty">{plan.blocked.length > 0 ? 'Nothing can move now.' : 'Nothing has to move.'}</p>
      ) : (
        <Timeline label="Timeline of the plan" steps={plan.steps} states={states} />
      )}
      {plan.blocked.length > 0 && (
        <div class="blocked" role="group" aria-label="What cannot move">
          <h3>{plan.blocked.length} cannot move</h3>
          <ul>
            {plan.blocked.slice(0, 20).map(({ budgets, nodes: on, reason, unit }) => (
              <li key={unit}>
                <strong class="mono">{unit}</strong> {BLOCKED[reason]}
                {budgets.length > 0 && ` (${budgets.join(', ')})`}, on {on.join(', ')}
              </li>
            ))}
          </ul>
        </div>
      )}
      <h3>Carry it out</h3>
      <CopyCommand command={commandOf(made)} />
      {session.value?.writes === true && (
        <button type="button" onClick={() => ask(drainChange(fleet(), made, now()))}>
          Drain {made.nodes.length} {made.nodes.length === 1 ? 'node' : 'nodes'}…
        </button>
      )}
    </div>
  );
}

function commandOf({ nodes, nodesReturn: comeBack }: MadePlan): string {
  const which = nodes.length === fleet().nodes.size && comeBack ? '--all' : nodes.join(' ');
  const flags = comeBack && which !== '--all' ? ' --nodes-return' : '';
  return `quorate plan drain ${which}${flags} -o json > plan.json && quorate drain --plan plan.json`;
}

const BLOCKED = {
  BudgetAllowsNone: 'may never go: its budget allows none',
  BudgetBroken: 'may not go now: its budget is broken already',
  OverlappingBudgets: 'may not go: more than one budget selects it',
  NoRoom: 'has nowhere to go: there is no room',
  CannotTell: 'stays: whether it has somewhere to go cannot be told',
} as const;

function Figure({
  label,
  strong,
  value,
  worse,
}: {
  value: number | string;
  label: string;
  strong?: boolean;
  worse?: boolean;
}) {
  return (
    <div class={`figure ${strong ? 'strong' : ''} ${worse ? 'worse' : ''}`}>
      <strong>{value}</strong>
      <span>{label}</span>
    </div>
  );
}

const MOST_REFUSALS = 4;

/** Why a pod stays: in a sentence and with what would help; the rest for whoever wants to know. */
function Refusal({ lines }: { lines: readonly string[] }) {
  const [first = '', ...rest] = lines;
  const help = rest.filter((text) => /^(To unblock|Or):/.test(text));
  return (
    <details class="refusal">
      <summary>
        {first}
        {help[0] !== undefined && <span class="help">{help[0]}</span>}
      </summary>
      <ul class="why-lines">
        {rest
          .filter((text) => text !== help[0])
          .map((text) => (
            <li key={text}>{text}</li>
          ))}
      </ul>
    </details>
  );
}

function UnderWay() {
  const at = now();
  const { drains, empty, more } = runningDrains(fleet(), at);
  return (
    <section class="card" aria-label="Drains under way" aria-live="polite">
      <h2>Under way</h2>
      {drains.length === 0 && empty.length === 0 && (
        <p class="hint">No node is cordoned. A drain that somebody starts, with whatever tool, shows here at once.</p>
      )}
      <Maintenances />
      {drains.map(({ going, joint, left, node }) => (
        <article key={node} class="drain" aria-label={`Drain of ${node}`}>
          <h3>
            <span class="mono">{node}</span>{' '}
            <span class={`tag ${left.length === 0 ? 'tag-going' : joint.allowed ? 'tag-ok' : 'tag-stop'}`}>
              {left.length === 0 ? 'the last pods go' : joint.allowed ? 'all may go' : 'held up'}
            </span>
          </h3>
          <p>
            {left.length} {left.length === 1 ? 'pod' : 'pods'} left{going > 0 && `, ${going} on their way out`}
          </p>
          {joint.refusals.slice(0, MOST_REFUSALS).map((refusal) => (
            <Refusal key={refusal.pod} lines={formatPodExplanation(refusal, at)} />
          ))}
          {joint.refusals.length > MOST_REFUSALS && (
            <p class="hint">and {joint.refusals.length - MOST_REFUSALS} more</p>
          )}
        </article>
      ))}
      {more > 0 && <p class="hint">and {more} more nodes</p>}
      {empty.length > 0 && (
        <p>
          Cordoned and empty: <span class="mono">{empty.slice(0, 12).join(', ')}</span>
          {empty.length > 12 && ` and ${empty.length - 12} more`}
        </p>
      )}
    </section>
  );
}
