/** Loaded before the command: lets a failure happen that nothing catches, when the test asks for it. */
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('thrown on purpose');
  });
});
process.on('SIGWINCH', () => void Promise.reject(new Error('rejected on purpose')));
