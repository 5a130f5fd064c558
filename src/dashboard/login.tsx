/** What stands where nobody is logged in: how to get a link, or, where the page takes one, a field for a token. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { NAMESPACE_HEADER, UI_HEADER } from '../api/ui/stream.ts';
import mark from './mark.svg';
import { askSession, session } from './store.ts';

export function LoggedOut() {
  const name = session.value?.user;
  const takesToken = useSignal(false);
  useEffect(() => {
    void askSession().then(
      (info) => (takesToken.value = info !== undefined && 'login' in info && info.login === 'Token'),
    );
  }, []);
  return (
    <main class="splash">
      <img src={mark} alt="" width={48} height={48} />
      <h1>{name === undefined ? 'Not logged in' : 'Logged out'}</h1>
      {takesToken.value ? <TokenForm /> : <LinkHint />}
    </main>
  );
}

function LinkHint() {
  return (
    <>
      <p>A login link works once. To get a new one, type:</p>
      <code>quorate dashboard</code>
      <p class="hint">
        Or <code>quorate dashboard --link</code> for the page that quorate up serves itself.
      </p>
    </>
  );
}

/** The token goes to the server once and is kept nowhere here; what comes back is a cookie that scripts cannot read. */
function TokenForm() {
  const token = useRef<HTMLInputElement>(null);
  const namespace = useRef<HTMLInputElement>(null);
  const problem = useSignal('');
  const submitted = async (event: Event): Promise<void> => {
    event.preventDefault();
    const { value } = token.current as HTMLInputElement;
    (token.current as HTMLInputElement).value = '';
    problem.value = await logInWith(value.trim(), namespace.current?.value.trim() ?? '');
    if (problem.value === '') location.reload();
    else token.current?.focus();
  };
  return (
    <form class="login" onSubmit={(event) => void submitted(event)}>
      <p>Show a token of this cluster. You see what it may read.</p>
      <label>
        Token
        <input ref={token} type="password" required autoComplete="off" spellcheck={false} />
      </label>
      <label>
        Namespace, if you may not list them all
        <input
          ref={namespace}
          type="text"
          autoComplete="off"
          spellcheck={false}
          pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
        />
      </label>
      <button type="submit" class="primary">
        Log in
      </button>
      <p role="alert" class="problem">
        {problem.value}
      </p>
      <p class="hint">One for a service account, for an hour:</p>
      <code>kubectl create token NAME -n NAMESPACE</code>
    </form>
  );
}

/** Returns what is wrong, or nothing. */
async function logInWith(token: string, namespace: string): Promise<string> {
  // What a header cannot carry is no token; the browser would say so in words of its own.
  if (!/^[\x21-\x7e]+$/.test(token)) return 'That is no token.';
  const own = { [UI_HEADER]: '1' };
  const headers = {
    ...own,
    authorization: `Bearer ${token}`,
    ...(namespace !== '' && { [NAMESPACE_HEADER]: namespace }),
  };
  try {
    const asked = await fetch('logins', { method: 'POST', headers });
    if (asked.status === 403) return 'The cluster does not know this token, or it has expired.';
    if (!asked.ok) return `The server answered with ${asked.status}. Try again.`;
    const { path } = (await asked.json()) as { path: string };
    const entered = await fetch('session', { method: 'POST', headers: own, body: path.split('#login=')[1] ?? '' });
    return entered.ok ? '' : `The server answered with ${entered.status}. Try again.`;
  } catch {
    return 'The server cannot be reached.';
  }
}
