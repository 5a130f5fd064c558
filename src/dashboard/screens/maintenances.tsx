import { isFinished, type Maintenance, type PlannedStep } from '../../api/quorate/maintenance.ts';
import { byName, type StepState } from '../../fleet/index.ts';
import { type ShownStep, Timeline } from '../parts/timeline.tsx';
import { fleet, session } from '../store.ts';
import { pauseChange } from '../writes/changes.ts';
import { ask } from '../writes/confirm.tsx';

const MOST_SHOWN = 20;

/** Drains as objects, by what their controller says of them. */
export function Maintenances() {
  const all = [...(fleet().objects.get('Maintenance')?.values() ?? [])] as Maintenance[];
  const running = all
    .filter((one) => !isFinished(one) && one.spec?.source === undefined)
    .sort((a, b) => byName(a.metadata.name ?? '', b.metadata.name ?? ''));
  return (
    <>
      {running.slice(0, MOST_SHOWN).map((one) => (
        <Shown key={one.metadata.name} maintenance={one} />
      ))}
      {running.length > MOST_SHOWN && <p class="hint">and {running.length - MOST_SHOWN} more maintenances</p>}
    </>
  );
}

function Shown({ maintenance }: { maintenance: Maintenance }) {
  const { metadata, spec, status } = maintenance;
  const { blockers = [], groups, phase = 'Pending', plan, summary } = status ?? {};
  const isPaused = spec?.paused === true;
  return (
    <article class="drain" aria-label={`Maintenance ${metadata.name}`}>
      <h3>
        <span class="mono">{metadata.name}</span>{' '}
        <span class={`tag ${phase === 'Blocked' ? 'tag-stop' : phase === 'Running' ? 'tag-ok' : 'tag-going'}`}>
          {phase}
        </span>
      </h3>
      <p>
        {summary?.nodes !== undefined && <span>{summary.nodes} nodes drained. </span>}
        {groups !== undefined && (
          <span>
            {groups.downNow} {groups.downNow === 1 ? 'group is' : 'groups are'} down now, {groups.downTotal} of{' '}
            {groups.planned} planned outages have been.
          </span>
        )}{' '}
        <span class="faint">{spec?.reason}</span>
      </p>
      {blockers.map(({ kind, message, name, namespace, reason, remedies = [] }) => (
        <p key={`${kind}/${namespace}/${name}/${reason}`}>
          {message} ({reason}).{remedies[0] !== undefined && <span class="help">{remedies[0]}</span>}
        </p>
      ))}
      {plan !== undefined && plan.steps.length > 0 && (
        <Timeline
          label={`Steps of ${metadata.name}`}
          steps={plan.steps.map(stepOf)}
          first={plan.stepsBefore + 1}
          states={statesOf(maintenance)}
        />
      )}
      {session.value?.writes === true && (
        <button type="button" onClick={() => ask(pauseChange(maintenance))}>
          {isPaused ? 'Resume…' : 'Pause…'}
        </button>
      )}
    </article>
  );
}

const stepOf = ({ completes = [], evictions }: PlannedStep): ShownStep => ({
  evictions: evictions.map(({ disrupts, group }) => ({ disrupts, unit: group })),
  completes,
});

function statesOf({ status }: Maintenance): StepState[] {
  const { plan, step } = status ?? {};
  return (plan?.steps ?? []).map((_, at) => {
    const number = (plan?.stepsBefore ?? 0) + at + 1;
    const reached = step?.number ?? 0;
    if (number < reached || (number === reached && step?.doneAt !== undefined)) return 'Done';
    return number === reached ? 'Running' : 'Ahead';
  });
}
