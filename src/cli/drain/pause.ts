/** The first interrupt asks for a pause, the second ends the program. */
export function watchForPause(onPause: () => void): { isPaused: () => boolean; stop: () => void } {
  let paused = false;
  const pause = (): void => {
    if (paused) process.exit(130);
    paused = true;
    onPause();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, pause);
  return {
    isPaused: () => paused,
    stop: () => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, pause);
    },
  };
}
