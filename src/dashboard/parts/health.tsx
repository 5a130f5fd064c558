import { line, session } from '../store.ts';
import { useEffect, useState } from 'preact/hooks';

/** Whether what is shown is what is; says since when it is not. */
export function Health() {
  const [, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTick((tick) => tick + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const { heardAt, state, text } = line.value;
  const seconds = Math.round((Date.now() - heardAt) / 1000);
  const lost = state === 'Lost';
  return (
    <div class="health">
      <span class={`pulse pulse-${lost ? 'lost' : state === 'Live' ? 'live' : 'loading'}`} aria-hidden="true" />
      <span role="status">
        {lost ? `Stale since ${seconds} s: ${text ?? 'no connection'}` : state === 'Live' ? 'Live' : 'Loading'}
      </span>
      <span class="who" title={session.value?.server}>
        {session.value?.user}
      </span>
    </div>
  );
}
