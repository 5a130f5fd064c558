import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import mark from './mark.svg';
import { LoggedOut } from './login.tsx';
import { KnowledgeNotes } from './parts/knowledge.tsx';
import { Health } from './parts/health.tsx';
import { hrefOf, route, type Screen, SCREENS } from './route.ts';
import { Budgets } from './screens/budgets.tsx';
import { Drain } from './screens/drain.tsx';
import { FleetScreen } from './screens/fleet.tsx';
import { Groups } from './screens/groups.tsx';
import { WhatIf } from './screens/what-if.tsx';
import { Confirm } from './writes/confirm.tsx';
import { connect, line, loaded, logIn, revision } from './store.ts';

const TITLES: Readonly<Record<Screen, string>> = {
  fleet: 'Fleet',
  budgets: 'Budgets',
  drain: 'Drain',
  groups: 'Groups',
  'what-if': 'What if',
};

const VIEWS: Readonly<Record<Screen, () => preact.JSX.Element>> = {
  fleet: FleetScreen,
  budgets: Budgets,
  drain: Drain,
  groups: Groups,
  'what-if': WhatIf,
};

export function App() {
  const entered = useSignal<'Asking' | 'Yes' | 'No'>('Asking');
  useEffect(() => {
    const life = new AbortController();
    void logIn().then((ok) => {
      entered.value = ok ? 'Yes' : 'No';
      if (ok) connect(life.signal);
    });
    return () => life.abort();
  }, []);
  if (entered.value === 'Asking') return <Splash text="Connecting…" />;
  if (entered.value === 'No' || line.value.state === 'LoggedOut') return <LoggedOut />;
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}
      >
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href={hrefOf('fleet')} aria-label="Quorate, fleet">
          <img src={mark} alt="" width={24} height={24} />
          <span>Quorate</span>
        </a>
        <Nav />
        <Health />
      </header>
      <Main />
      <Confirm />
    </div>
  );
}

function Nav() {
  return (
    <nav aria-label="Screens">
      {SCREENS.map((screen) => (
        <a key={screen} href={hrefOf(screen)} aria-current={route.value.screen === screen ? 'page' : undefined}>
          {TITLES[screen]}
        </a>
      ))}
    </nav>
  );
}

function Main() {
  const { screen } = route.value;
  const main = useRef<HTMLElement>(null);
  const View = VIEWS[screen];
  const isLoading = revision.value === 0;
  return (
    <main id="main" ref={main} tabIndex={-1}>
      <h1 class="offscreen">{TITLES[screen]}</h1>
      {isLoading ? (
        <Splash
          text={
            loaded.value === 0
              ? 'Reading the cluster…'
              : `Reading the cluster: ${loaded.value.toLocaleString('en')} objects…`
          }
        />
      ) : (
        <>
          <KnowledgeNotes />
          <View />
        </>
      )}
    </main>
  );
}

function Splash({ text }: { text: string }) {
  return (
    <div class="splash" role="status">
      <img src={mark} alt="" width={48} height={48} />
      <p>{text}</p>
    </div>
  );
}
