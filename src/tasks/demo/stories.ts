import { airflowWorkers } from './airflow-workers.ts';
import { gangDrain } from './gang-drain.ts';
import { scaleTraining } from './scale-training.ts';
import { servingShards } from './serving-shards.ts';
import type { Story } from './story.ts';
import { upgrade } from './upgrade.ts';

/** In the order a newcomer should see them. */
export const stories: readonly Story[] = [gangDrain, servingShards, airflowWorkers, scaleTraining, upgrade];

export const findStory = (name: string): Story | undefined => stories.find((story) => story.name === name);
