/**
 * Conversion is a plain function everywhere, except that a custom resource definition may have a webhook do it. Such a
 * conversion throws ConversionNeeded until the webhook's answer is there; whoever converts runs the step again then.
 */

export class ConversionNeeded extends Error {
  override name = 'ConversionNeeded';
  /** Asks the webhook and remembers what it says. */
  readonly learn: () => Promise<void>;

  constructor(learn: () => Promise<void>) {
    super('a webhook has to convert this object first');
    this.learn = learn;
  }
}

/** Each run of a step learns at least one conversion more; no step has as many as this. */
const MAX_RUNS = 32;

/**
 * Runs a step that converts objects and does nothing that may not be done twice. Waits only where a webhook has to be
 * asked.
 */
export function converting<T>(step: () => T): T | Promise<T> {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof ConversionNeeded)) throw error;
    return convertingLater(step, error);
  }
}

async function convertingLater<T>(step: () => T, needed: ConversionNeeded): Promise<T> {
  let missing = needed;
  for (let run = 1; ; run += 1) {
    await missing.learn();
    try {
      return step();
    } catch (error) {
      if (!(error instanceof ConversionNeeded) || run === MAX_RUNS) throw error;
      missing = error;
    }
  }
}
