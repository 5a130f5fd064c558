import { describeStore } from '../store.contract.ts';
import { propertyStore } from '../store-model.contract.ts';
import { createMemoryStore } from './memory-store.ts';

describeStore('memory store', async (options) => createMemoryStore(options));
propertyStore('memory store', async (options) => createMemoryStore(options), 200);
