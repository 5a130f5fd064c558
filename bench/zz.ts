import { benchEvictions } from './evictions.ts';
await benchEvictions();
