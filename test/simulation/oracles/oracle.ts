/** Told of what must never be; the run ends with the first. */
export type Violated = (rule: string, text: string) => void;
