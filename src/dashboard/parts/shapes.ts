import type { Mark } from '../../fleet/index.ts';

/** Each mark as a path in a square of 16, so that canvas and SVG draw the same. Rings are stroked, the rest is filled. */
export const SHAPES: Readonly<Record<Mark, { readonly path: string; readonly stroked: boolean }>> = {
  whole: {
    path: 'M3.5 2h9A1.5 1.5 0 0 1 14 3.5v9a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 2 12.5v-9A1.5 1.5 0 0 1 3.5 2z',
    stroked: false,
  },
  spare: { path: 'M8 1.5a6.5 6.5 0 1 1 0 13a6.5 6.5 0 0 1 0-13z', stroked: false },
  minimum: { path: 'M8 .8L15.2 8L8 15.2L.8 8z', stroked: false },
  placing: { path: 'M8 3a5 5 0 1 1 0 10a5 5 0 0 1 0-10z', stroked: true },
  going: { path: 'M3 1.8L14.6 8L3 14.2z', stroked: false },
  broken: { path: 'M3 3L13 13M13 3L3 13', stroked: true },
};
