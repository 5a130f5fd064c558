import { useEffect, useState } from 'preact/hooks';
import type { Pod } from '../../api/generated/core-v1.ts';
import { UI_HEADER } from '../../api/ui/stream.ts';
import { explainPod, explainTogether, formatTogether } from '../../decisions/all-budgets/index.ts';
import { formatAge, parseTime } from '../../machinery/values/index.ts';
import { byName, type Fleet, MARK_WORDS, MARKS, type ShownGroup } from '../../fleet/index.ts';
import { MarkIcon } from '../parts/mark.tsx';
import { hrefOf, route } from '../route.ts';
import { fleet, now, revision } from '../store.ts';
import { FilterBar } from './filter-bar.tsx';
import { filterGroups, filters } from './filters.ts';

const MOST_LISTED = 150;

/** What needs a look comes first. */
const byNeed = (a: ShownGroup, b: ShownGroup): number =>
  Number(a.single) - Number(b.single) || MARKS.indexOf(a.mark) - MARKS.indexOf(b.mark) || byName(a.id, b.id);

export function Groups() {
  void revision.value;
  const state = fleet();
  const { groups, problem } = filterGroups(state, filters.value);
  const sorted = [...groups].sort(byNeed);
  const open = state.groups.all().get(route.value.of);
  return (
    <div class={`split ${open === undefined ? '' : 'opened'}`}>
      <section class="card" aria-label="Groups">
        <FilterBar pools={false} problem={problem} />
        <ul class="group-list">
          {sorted.slice(0, MOST_LISTED).map((group) => (
            <li key={group.id}>
              <a href={hrefOf('groups', group.id)} aria-current={group.id === open?.id ? 'true' : undefined}>
                <MarkIcon mark={group.mark} labelled />
                <span class="mono name">{group.name}</span>
                <span class="faint">{group.namespace}</span>
                <span class="count">
                  {group.healthy}/{group.single ? group.members.length : group.needed}
                </span>
              </a>
            </li>
          ))}
        </ul>
        {sorted.length > MOST_LISTED && <p class="hint">and {sorted.length - MOST_LISTED} more: filter to find them</p>}
        {sorted.length === 0 && <p class="empty">No such group.</p>}
      </section>
      {open === undefined ? (
        <section class="card placeholder" aria-label="A group">
          <p class="hint">
            {route.value.of === ''
              ? 'Choose a group to see its members, budgets and events.'
              : `${route.value.of} is not there (any more).`}
          </p>
        </section>
      ) : (
        <Detail key={open.id} group={open} />
      )}
    </div>
  );
}

function Detail({ group }: { group: ShownGroup }) {
  const state = fleet();
  const at = now();
  const pods = group.members.flatMap((key) => state.pods.get(key) ?? []);
  const joint = explainTogether(state.budgets(at), group.name, pods);
  const budgets = budgetsOf(state, pods);
  return (
    <section class="card" aria-label={`Group ${group.id}`}>
      <a class="back" href={hrefOf('groups')}>
        ← All groups
      </a>
      <h2 class="group-title">
        <MarkIcon mark={group.mark} size={22} /> <span class="mono">{group.name}</span>
      </h2>
      <p>
        <strong>{MARK_WORDS[group.mark].label}</strong>: {MARK_WORDS[group.mark].means}. {group.healthy} of{' '}
        {group.members.length} members healthy{group.single ? '' : `, needs ${group.needed}`}.
      </p>
      <dl class="facts">
        <dt>Namespace</dt>
        <dd>{group.namespace}</dd>
        <dt>Budgets</dt>
        <dd>
          {budgets.size === 0
            ? 'none: nothing keeps it from being evicted'
            : [...budgets].map((id) => (
                <a key={id} href={hrefOf('budgets', id)}>
                  {id.split('/').at(-1)}
                </a>
              ))}
        </dd>
        <Behind group={group} state={state} />
      </dl>
      <h3>Members</h3>
      <Members pods={pods} state={state} at={at} />
      <h3>{joint.allowed ? 'All of it may go now' : 'It may not go as a whole now'}</h3>
      <ul class="why-lines">
        {formatTogether(joint, at)
          .filter((text) => text !== '' && !text.startsWith('  may'))
          .map((text) => (
            <li key={text}>{text}</li>
          ))}
      </ul>
      <Events group={group} />
    </section>
  );
}

/** Budgets of both kinds that count some of these pods. */
function budgetsOf({ index, unavailability }: Fleet, pods: readonly Pod[]): Set<string> {
  const ids = new Set<string>();
  for (const { metadata } of pods) {
    const { name = '', namespace = '' } = metadata;
    for (const budget of index.concernedBy(namespace, name).selecting) ids.add(`pdb/${namespace}/${budget}`);
    for (const { budget } of unavailability.indexes.of(namespace).covering(name)) {
      ids.add(`pub/${namespace}/${budget.metadata.name ?? ''}`);
    }
  }
  return ids;
}

/** The objects that say what the group is. */
function Behind({ group, state }: { group: ShownGroup; state: Fleet }) {
  const [kind, name = ''] = group.name.split('/');
  const object = state.objects.get(kind ?? '')?.get(`${group.namespace}/${name}`);
  const { spec, status } = (object ?? {}) as {
    spec?: { podGroupTemplateRef?: { workload?: { workloadName?: string } } };
    status?: { conditions?: { type: string; status: string; reason?: string; message?: string }[] };
  };
  const workload = spec?.podGroupTemplateRef?.workload?.workloadName;
  return (
    <>
      {workload !== undefined && (
        <>
          <dt>Workload</dt>
          <dd class="mono">{workload}</dd>
        </>
      )}
      {status?.conditions?.map(({ message, reason, status: value, type }) => (
        <>
          <dt>{type}</dt>
          <dd>
            {value} {reason !== undefined && `(${reason})`} <span class="faint">{message}</span>
          </dd>
        </>
      ))}
    </>
  );
}

function Members({ at, pods, state }: { pods: readonly Pod[]; state: Fleet; at: number }) {
  const all = state.budgets(at);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Members">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Pod</th>
            <th scope="col">Node</th>
            <th scope="col">State</th>
            <th scope="col">Alone, it</th>
          </tr>
        </thead>
        <tbody>
          {pods.map((pod) => {
            const { name = '', namespace = '' } = pod.metadata;
            const told = explainPod(all, { namespace, name });
            return (
              <tr key={name}>
                <th scope="row" class="mono">
                  {name}
                </th>
                <td class="mono">{pod.spec?.nodeName || '—'}</td>
                <td>{stateOf(pod, at)}</td>
                <td>
                  <span class={`tag ${told?.allowed ? 'tag-ok' : 'tag-stop'}`}>
                    {told?.allowed ? 'may go' : 'may not go'}
                  </span>{' '}
                  <span class="faint">{told?.unavailability?.[0]?.reason ?? told?.reason}</span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function stateOf({ metadata, status }: Pod, at: number): string {
  if (metadata.deletionTimestamp) return 'Terminating';
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') {
    const since = parseTime(ready.lastTransitionTime ?? undefined);
    return since === undefined || since > at ? 'Ready' : `Ready for ${formatAge(at - since)}`;
  }
  const scheduled = status?.conditions?.find(({ status: value, type }) => type === 'PodScheduled' && value !== 'True');
  const phase = status?.phase === 'Running' ? 'Running, not Ready' : (status?.phase ?? 'Unknown');
  return `${phase}${scheduled?.message ? `: ${scheduled.message}` : ''}`;
}

interface Happened {
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string;
  readonly eventTime?: string;
  readonly involvedObject?: { kind?: string; name?: string };
}

/** Events are many and seldom read: they are asked for when somebody looks. */
function Events({ group }: { group: ShownGroup }) {
  const [events, setEvents] = useState<readonly Happened[] | string | undefined>(undefined);
  useEffect(() => {
    const life = new AbortController();
    void readEvents(group, life.signal).then(setEvents, () => setEvents('Events could not be read.'));
    return () => life.abort();
  }, [group.id, group.mark]);
  if (events === undefined) return null;
  return (
    <>
      <h3>Events</h3>
      {typeof events === 'string' ? (
        <p class="hint">{events}</p>
      ) : events.length === 0 ? (
        <p class="hint">None is kept.</p>
      ) : (
        <ul class="events">
          {events.map((event, at) => (
            <li key={at}>
              <span class="mono faint">
                {event.involvedObject?.kind}/{event.involvedObject?.name}
              </span>{' '}
              <strong>{event.reason}</strong> {event.message}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const MOST_EVENTS = 12;

async function readEvents(group: ShownGroup, signal: AbortSignal): Promise<readonly Happened[] | string> {
  const path = `k8s/api/v1/namespaces/${encodeURIComponent(group.namespace)}/events?limit=500`;
  const response = await fetch(path, { headers: { [UI_HEADER]: '1' }, signal });
  if (response.status === 403) return 'You may not read events here.';
  if (!response.ok) return 'Events could not be read.';
  const { items } = (await response.json()) as { items: Happened[] };
  const names = new Set([
    ...group.members.map((key) => key.slice(group.namespace.length + 1)),
    group.name.split('/').at(-1),
  ]);
  const when = ({ eventTime, lastTimestamp }: Happened): string => lastTimestamp ?? eventTime ?? '';
  return items
    .filter(({ involvedObject }) => names.has(involvedObject?.name ?? ''))
    .sort((a, b) => (when(a) < when(b) ? 1 : -1))
    .slice(0, MOST_EVENTS);
}
