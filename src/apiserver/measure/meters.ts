import type { Clock } from '../../machinery/runtime/index.ts';
import { AdmissionMeter } from './admission-meter.ts';
import { HealthMeter } from './health-meter.ts';
import { RequestMeter } from './request-meter.ts';
import { StoreMeter } from './store-meter.ts';

/** What a server measures of itself, whether somebody reads it or not: kept as numbers, named when read. */
export class Meters {
  readonly requests: RequestMeter;
  readonly admission: AdmissionMeter;
  readonly store: StoreMeter;
  readonly health = new HealthMeter();

  constructor(clock: Clock) {
    this.requests = new RequestMeter(clock);
    this.admission = new AdmissionMeter(clock);
    this.store = new StoreMeter(clock);
  }
}
