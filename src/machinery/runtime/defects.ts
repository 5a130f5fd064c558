type Listener = (error: Error) => void;

let listener: Listener | undefined;

/** Has every bug told of that is caught so that the process goes on: tests fail by them. Absent: nobody listens. */
export function onDefect(next: Listener | undefined): void {
  listener = next;
}

/** An error that no answer of an API server and no lost connection looks like. */
export function isDefect(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}

export function reportDefect(error: unknown): void {
  if (isDefect(error)) listener?.(error);
}
