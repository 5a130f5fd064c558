/**
 * The exit code of every command that may not read what its answer depends on. It says what it could not read and
 * decides nothing.
 */
export const CANNOT_TELL = 6;

export const CANNOT_TELL_HELP = `  ${CANNOT_TELL}  cannot tell: something the answer depends on may not be read; it is named`;

/** Of commands that run until they are stopped. */
export const STOPPED_HELP = `
Exit codes: 0 stopped, 1 could not start, 4 shut down cleanly after an
internal error, which is in the log`;
