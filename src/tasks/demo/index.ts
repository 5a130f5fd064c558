export type { Beat } from './beat.ts';
export { playStory } from './play.ts';
export { findStory, stories } from './stories.ts';
export { type Story } from './story.ts';
