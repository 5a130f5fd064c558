import type { Writable } from 'node:stream';

/**
 * Tells a request that its client went away before the answer. Most requests never ask, and aborting makes an error
 * with a stack, so nothing is made before someone asks and nothing is aborted once the answer is there.
 */
export class Departure {
  #controller: AbortController | undefined;
  #settled = false;
  readonly #out: Writable;

  constructor(out: Writable) {
    this.#out = out;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      if (this.#out.destroyed) controller.abort();
      else this.#out.once('close', () => this.#settled || controller.abort());
    }
    return this.#controller.signal;
  }

  settle(): void {
    this.#settled = true;
  }
}
