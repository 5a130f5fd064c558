import { tellBudgetStories } from './budgets.ts';
import { tellCountingStories } from './counting.ts';
import { tellGangStories } from './gangs.ts';
import { tellGroupEvictionStories } from './group-evictions.ts';
import type { StoryHost } from './host.ts';
import { tellPickerStories } from './pickers.ts';
import { tellPlanStories } from './plans.ts';
import { tellShardStories } from './shards.ts';
import { tellUnitStories } from './units.ts';

/** Every story, one after the other on one host. */
export function tellStories(on: () => StoryHost): void {
  tellBudgetStories(on);
  tellCountingStories(on);
  tellUnitStories(on);
  tellShardStories(on);
  tellGroupEvictionStories(on);
  tellPickerStories(on);
  tellGangStories(on);
  tellPlanStories(on);
}
