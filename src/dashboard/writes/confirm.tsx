import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';

/** A change that waits for a person to say yes, with what it takes down. */
export interface PageChange {
  readonly title: string;
  /** What happens, in sentences. */
  readonly says: readonly string[];
  /** Groups that go down, by name. */
  readonly down: readonly string[];
  /** What the button says that does it. */
  readonly verb: string;
  readonly act: () => Promise<unknown>;
}

const asked = signal<PageChange | undefined>(undefined);

export function ask(change: PageChange): void {
  asked.value = change;
}

const MOST_NAMED = 30;

/** Once on the page: shows what was asked for, if anything was. */
export function Confirm() {
  const change = asked.value;
  return change === undefined ? null : <Asked key={change.title} change={change} />;
}

function Asked({ change }: { change: PageChange }) {
  const { act, down, says, title, verb } = change;
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  // The browser keeps the focus inside, and gives it back where it was.
  useEffect(() => dialog.current?.showModal(), []);
  const close = (): void => dialog.current?.close();
  const go = (): void => {
    setBusy(true);
    setProblem('');
    act().then(close, (error: unknown) => {
      setBusy(false);
      setProblem(error instanceof Error ? error.message : String(error));
    });
  };
  return (
    <dialog ref={dialog} class="card confirm" aria-labelledby="confirm-title" onClose={() => (asked.value = undefined)}>
      <h2 id="confirm-title">{title}</h2>
      {says.map((text) => (
        <p key={text}>{text}</p>
      ))}
      {down.length > 0 && (
        <ul class="confirm-down" tabIndex={0} aria-label="Goes down">
          {down.slice(0, MOST_NAMED).map((group) => (
            <li key={group} class="mono">
              {group}
            </li>
          ))}
          {down.length > MOST_NAMED && <li class="hint">and {down.length - MOST_NAMED} more</li>}
        </ul>
      )}
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="row">
        <button type="button" class="primary" disabled={busy} onClick={go}>
          {verb}
        </button>
        <button type="button" class="quiet" onClick={close}>
          Leave it as it is
        </button>
      </div>
    </dialog>
  );
}
