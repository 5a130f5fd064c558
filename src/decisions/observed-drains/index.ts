/** Drains of nodes that others carry out: by what they are known, and until when they leave pods in peace. Pure. */
export * from './markers.ts';
export * from './read-mark.ts';
export * from './next.ts';
