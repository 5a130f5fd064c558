export type { Beat } from './beat.ts';
export { type PlayOptions, playStory } from './play.ts';
export { findStory, stories } from './stories.ts';
export { type Story, StoryError } from './story.ts';
