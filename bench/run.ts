/** `npm run bench`: every measurement in turn. */
import { benchRanking } from './ranking.ts';
import { benchScaleReplicas } from './scale-replicas.ts';

benchRanking();
await benchScaleReplicas();
