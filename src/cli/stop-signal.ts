/**
 * Resolves on the first SIGINT or SIGTERM; a second one ends the process at once. It listens from the call on, so call
 * it before saying that all is up: whoever reads that may ask to stop in the same moment.
 */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.removeListener(signal, stop);
        process.once(signal, () => process.exit(130));
      }
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}
