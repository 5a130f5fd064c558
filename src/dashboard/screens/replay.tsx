import { signal } from '@preact/signals';
import { eventsUntil, momentsOf, pointAt, readReplay, type Replay, type ReplayedBudget } from '../../fleet/index.ts';
import { formatAge } from '../../machinery/values/index.ts';
import { Gauge } from '../parts/gauge.tsx';

interface Opened {
  readonly name: string;
  readonly replay: Replay;
  readonly moments: readonly number[];
}

const opened = signal<Opened | string | undefined>(undefined);
/** Which of the moments is shown. */
const at = signal(0);

const MOST_EVENTS = 8;
const MOST_BUDGETS = 30;

/** A file of `quorate simulate -o json`; it is read here and sent nowhere. */
async function open(file: File): Promise<void> {
  try {
    const replay = readReplay(await file.text());
    at.value = 0;
    opened.value = { name: file.name, replay, moments: momentsOf(replay) };
  } catch (error) {
    opened.value = error instanceof Error ? error.message : String(error);
  }
}

export function ReplayScreen() {
  return (
    <section class="card" aria-label="Replay a simulation">
      <h2>Replay a simulation</h2>
      <p class="hint">
        Of a file that <code>quorate simulate FILE -o json</code> printed. It stays in this browser.
      </p>
      <label class="file">
        <span>Result of a simulation</span>
        <input
          type="file"
          accept=".json,application/json"
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.[0];
            if (file !== undefined) void open(file);
          }}
        />
      </label>
      {typeof opened.value === 'string' && (
        <p class="problem" role="alert">
          {opened.value}
        </p>
      )}
      {typeof opened.value === 'object' && <Played {...opened.value} />}
    </section>
  );
}

function Played({ moments, name, replay }: Opened) {
  const now = moments[at.value] ?? 0;
  const again = replay.disruptedAgain.length;
  return (
    <div class="replay">
      <label class="slider">
        <span>
          {name}, after <strong>{now === 0 ? 'nothing' : formatAge(now * 1000)}</strong> of{' '}
          {formatAge(replay.seconds * 1000)}
        </span>
        <input
          type="range"
          min={0}
          max={moments.length - 1}
          value={at.value}
          aria-label="Moment of the simulation"
          aria-valuetext={`${now} seconds`}
          onInput={(event) => (at.value = Number(event.currentTarget.value))}
        />
      </label>
      <p>
        {replay.disruptedOnce.length + again} {replay.disruptedOnce.length + again === 1 ? 'group goes' : 'groups go'}{' '}
        down in all, {again} more than once.
      </p>
      <ul class="budgets">
        {replay.budgets.slice(0, MOST_BUDGETS).map((budget) => (
          <li key={budget.id}>
            <Budget budget={budget} now={now} />
          </li>
        ))}
      </ul>
      <ul class="events" aria-label="What has happened, the newest first">
        {eventsUntil(replay, now, MOST_EVENTS).map(({ seconds, text }, index) => (
          <li key={index}>
            <span class="mono faint">{seconds} s</span> {text}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Budget({ budget, now }: { budget: ReplayedBudget; now: number }) {
  const { id, points, unit } = budget;
  const { available = 0, desired = 0 } = pointAt(budget, now) ?? {};
  const most = Math.max(...points.map((point) => point.available), desired);
  const view = {
    allowed: available - desired,
    counts: unit === 'groups' ? ('PodGroup' as const) : ('Pod' as const),
    desired,
    expected: most,
    healthy: available,
  };
  return (
    <article aria-label={`Budget ${id}`}>
      <strong class="mono">{id}</strong>{' '}
      {available < desired && <span class="tag tag-stop">broken: {desired - available} too few</span>}
      <Gauge view={view} />
    </article>
  );
}
