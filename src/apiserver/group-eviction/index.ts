export { groupEvictionPlugin } from './plugin.ts';
