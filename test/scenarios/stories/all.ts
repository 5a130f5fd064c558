import { tellBudgetStories } from './budgets.ts';
import { tellGangStories } from './gangs.ts';
import type { StoryHost } from './host.ts';
import { tellPickerStories } from './pickers.ts';
import { tellShardStories } from './shards.ts';

/** Every story, one after the other on one host. */
export function tellStories(on: () => StoryHost): void {
  tellBudgetStories(on);
  tellShardStories(on);
  tellPickerStories(on);
  tellGangStories(on);
}
