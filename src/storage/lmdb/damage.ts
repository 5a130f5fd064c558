import { dirname } from 'node:path';

/** What is on disk is not what this store wrote: it is not opened, so that nothing more is lost. */
export class StoreDamagedError extends Error {
  constructor(path: string, problem: string, options?: ErrorOptions) {
    const folder = dirname(path);
    super(
      `Cannot open the store "${path}": ${problem}. Nothing was changed. Restore "${folder}" from a backup. ` +
        `To start with an empty cluster instead, move "${dirname(folder)}" away`,
      options,
    );
    this.name = 'StoreDamagedError';
  }
}
