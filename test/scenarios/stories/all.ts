import { tellBudgetStories } from './budgets.ts';
import { tellCountingStories } from './counting.ts';
import { tellEvictionStories } from './evictions.ts';
import { tellGangStories } from './gangs.ts';
import { tellGroupEvictionStories } from './group-evictions.ts';
import type { StoryHost } from './host.ts';
import { tellPickerStories } from './pickers.ts';
import { tellPlanStories } from './plans.ts';
import { tellPreemptionStories } from './preemption.ts';
import { tellShardStories } from './shards.ts';
import { tellUnavailableStories } from './unavailable.ts';
import { tellUnitStories } from './units.ts';
import { tellUnreadyStories } from './unready.ts';

/** Every story, one after the other on one host. */
export function tellStories(on: () => StoryHost): void {
  tellBudgetStories(on);
  tellCountingStories(on);
  tellUnitStories(on);
  tellUnreadyStories(on);
  tellEvictionStories(on);
  tellShardStories(on);
  tellUnavailableStories(on);
  tellGroupEvictionStories(on);
  tellPickerStories(on);
  tellGangStories(on);
  tellPreemptionStories(on);
  tellPlanStories(on);
}
