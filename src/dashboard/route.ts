import { signal } from '@preact/signals';

export const SCREENS = ['fleet', 'budgets', 'drain', 'groups', 'what-if'] as const;
export type Screen = (typeof SCREENS)[number];

export interface Route {
  readonly screen: Screen;
  /** What of the screen, such as the id of a group; '' for all of it. */
  readonly of: string;
}

function read(): Route {
  const [, screen = '', ...rest] = location.hash.slice(1).split('/');
  const known = SCREENS.find((one) => one === screen) ?? 'fleet';
  return { screen: known, of: decodeURIComponent(rest.join('/')) };
}

export const route = signal<Route>(read());
window.addEventListener('hashchange', () => {
  route.value = read();
});

export const hrefOf = (screen: Screen, of = ''): string =>
  `#/${screen}${of === '' ? '' : `/${of.split('/').map(encodeURIComponent).join('/')}`}`;

export function goTo(screen: Screen, of = ''): void {
  location.hash = hrefOf(screen, of).slice(1);
}
