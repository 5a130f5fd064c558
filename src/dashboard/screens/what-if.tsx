import { signal } from '@preact/signals';
import {
  answer,
  byName,
  MARK_WORDS,
  scalable,
  type ShownBudget,
  type WhatIfAnswer,
  type WhatIfQuestion,
} from '../../fleet/index.ts';
import { Gauge } from '../parts/gauge.tsx';
import { MarkIcon } from '../parts/mark.tsx';
import { hrefOf } from '../route.ts';
import { choose, chosen, fleet, now, revision } from '../store.ts';
import { Choice } from './filter-bar.tsx';

const kind = signal<WhatIfQuestion['kind']>('fail');
const owner = signal('');
const by = signal(1);
const answered = signal<{ question: WhatIfQuestion; answer: WhatIfAnswer } | undefined>(undefined);
const busy = signal(false);

const KINDS: readonly { readonly kind: WhatIfQuestion['kind']; readonly label: string }[] = [
  { kind: 'fail', label: 'Nodes fail' },
  { kind: 'drain', label: 'Nodes are drained at once' },
  { kind: 'scale', label: 'Something shrinks' },
];

export function WhatIf() {
  void revision.value;
  return (
    <>
      <section class="card" aria-label="The question">
        <h2>What if…</h2>
        <p class="hint">Asked of a copy of what the cluster is now; nothing is changed.</p>
        <Asking />
      </section>
      {answered.value !== undefined && <Answered {...answered.value} />}
    </>
  );
}

function ask(): void {
  const question: WhatIfQuestion =
    kind.value === 'scale'
      ? { kind: 'scale', owner: owner.value, by: by.value }
      : { kind: kind.value, nodes: new Set(chosen.value) };
  busy.value = true;
  setTimeout(() => {
    answered.value = { question, answer: answer(fleet(), question, now()) };
    busy.value = false;
  }, 20);
}

function Asking() {
  const isReady = kind.value === 'scale' ? owner.value !== '' : chosen.value.size > 0;
  return (
    <form class="chooser" onSubmit={(event) => (event.preventDefault(), ask())}>
      <fieldset class="segments">
        <legend class="offscreen">What happens</legend>
        {KINDS.map(({ kind: one, label }) => (
          <label key={one} class={`segment ${kind.value === one ? 'on' : ''}`}>
            <input type="radio" name="kind" checked={kind.value === one} onChange={() => (kind.value = one)} />
            {label}
          </label>
        ))}
      </fieldset>
      {kind.value === 'scale' ? <Shrinking /> : <NodeChoice />}
      <button type="submit" class="primary" disabled={!isReady || busy.value}>
        {busy.value ? 'Working it out…' : 'Work it out'}
      </button>
    </form>
  );
}

function NodeChoice() {
  const names = [...fleet().nodes.keys()].sort(byName);
  const rest = names.filter((name) => !chosen.value.has(name));
  return (
    <div class="row">
      {[...chosen.value]
        .sort(byName)
        .slice(0, 20)
        .map((name) => (
          <button
            key={name}
            type="button"
            class="chip on"
            onClick={() => choose([name], false)}
            aria-label={`Take ${name} away`}
          >
            {name} ✕
          </button>
        ))}
      {chosen.value.size > 20 && <span class="hint">and {chosen.value.size - 20} more</span>}
      <Choice
        label="Add a node"
        all="Add a node…"
        value=""
        options={rest}
        set={(name) => name !== '' && choose([name], true)}
      />
    </div>
  );
}

function Shrinking() {
  const owners = scalable(fleet());
  const most = owners.get(owner.value) ?? 1;
  return (
    <div class="row">
      <Choice
        label="What shrinks"
        all="Choose a workload…"
        value={owner.value}
        options={[...owners.keys()]}
        set={(value) => {
          owner.value = value;
          by.value = 1;
        }}
      />
      <label>
        by{' '}
        <input
          type="number"
          min={1}
          max={most}
          value={by.value}
          onInput={(event) => (by.value = Math.max(1, Math.min(most, Number(event.currentTarget.value) || 1)))}
        />{' '}
        of {most}
      </label>
    </div>
  );
}

function Answered({ answer: told, question }: { question: WhatIfQuestion; answer: WhatIfAnswer }) {
  const broken = told.groups.filter(
    ({ after, before }) => before.mark !== 'broken' && (after === undefined || after.mark === 'broken'),
  );
  const changed = told.budgets.filter(
    ({ after, before }) => after === undefined || after.healthy !== before.healthy || after.allowed !== before.allowed,
  );
  return (
    <section class="card" aria-label="The answer" aria-live="polite">
      <h2>
        {told.lost.length} {told.lost.length === 1 ? 'pod' : 'pods'}{' '}
        {question.kind === 'drain' ? 'would go at once' : 'would be lost'}; {broken.length}{' '}
        {broken.length === 1 ? 'group breaks' : 'groups break'}
      </h2>
      {question.kind === 'drain' && told.kept.length > 0 && (
        <p>
          {told.kept.length} would be held back:{' '}
          {told.kept
            .slice(0, 5)
            .map(({ pod, reason }) => `${pod} (${reason})`)
            .join(', ')}
          {told.kept.length > 5 && ' and more'}
        </p>
      )}
      <table class="table compare">
        <caption class="offscreen">Groups by state, now and then</caption>
        <thead>
          <tr>
            <th scope="col">Groups</th>
            <th scope="col">Now</th>
            <th scope="col">Then</th>
          </tr>
        </thead>
        <tbody>
          {told.marks.map(({ mark, now: before, later }) => (
            <tr key={mark} class={before === later ? undefined : 'changed'}>
              <th scope="row">
                <MarkIcon mark={mark} /> {MARK_WORDS[mark].label}
              </th>
              <td>{before}</td>
              <td>{later}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {changed.length > 0 && <h3>Budgets</h3>}
      {changed.map(({ after, before }) => (
        <SideBySide key={before.id} before={before} after={after} />
      ))}
      {broken.length > 0 && (
        <>
          <h3>What breaks</h3>
          <ul class="group-list">
            {broken.slice(0, 50).map(({ after, before }) => (
              <li key={before.id}>
                <a href={hrefOf('groups', before.id)}>
                  <MarkIcon mark={before.mark} labelled /> → <MarkIcon mark={after?.mark ?? 'broken'} labelled />
                  <span class="mono name">{before.id}</span>
                  <span class="count">
                    {before.healthy} → {after?.healthy ?? 0} of {before.needed}
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function SideBySide({ after, before }: { before: ShownBudget; after: ShownBudget | undefined }) {
  return (
    <div class="sides">
      <strong class="mono">{before.id}</strong>
      <div>
        <span class="faint">Now: {Math.max(0, before.allowed)} may go</span>
        <Gauge view={before} />
      </div>
      <div>
        <span class="faint">
          Then:{' '}
          {after === undefined
            ? 'gone'
            : after.healthy < after.desired
              ? 'broken'
              : `${Math.max(0, after.allowed)} may go`}
        </span>
        {after !== undefined && <Gauge view={after} />}
      </div>
    </div>
  );
}
