import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';

/** API servers send a bookmark about every minute; a watch that is silent for longer may be dead without saying so. */
export const STALLED_MS = 90_000;
/** After so long without an event or a bookmark a copy is believed only if the API server still answers. */
export const SILENT_MS = 60_000;
/** An API server that is only starting does not serve definitions yet; one that does not by then has none. */
const ABSENT_MS = 60_000;
/** What goes on failing is told of once in this time. */
const TELL_AGAIN_MS = 60_000;

/** Whether a copy still follows what it is a copy of, and what is known where it does not. */
export class InformerLife {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #resource: { readonly resource: string; readonly group: string };
  #heardMs: number;
  #failure: string | undefined;
  #notServedMs: number | undefined;
  #told: { readonly message: string; readonly atMs: number } | undefined;

  constructor({ clock, group, log, resource }: { clock: Clock; log: Logger; resource: string; group: string }) {
    this.#clock = clock;
    this.#log = log;
    this.#resource = { resource, group };
    this.#heardMs = clock.elapsed();
  }

  /** How long nothing has been heard. */
  get silentMs(): number {
    return this.#clock.elapsed() - this.#heardMs;
  }

  heard(): void {
    this.#heardMs = this.#clock.elapsed();
    this.#failure = undefined;
    this.#notServedMs = undefined;
    if (this.#told === undefined) return;
    this.#log.info(this.#resource, 'a resource is followed again');
    this.#told = undefined;
  }

  failed(error: unknown): void {
    this.#failure = error instanceof Error ? error.message : String(error);
    this.#tell('lost the API server while following a resource');
  }

  /** The API server does not know the resource: its definition was deleted, or is not there yet. */
  notServed(error: unknown, { optional = false }: { optional?: boolean | undefined } = {}): void {
    this.#failure = error instanceof Error ? error.message : String(error);
    this.#notServedMs ??= this.#clock.elapsed();
    if (!optional || !this.isAbsent) this.#tell('a resource that is followed is not served');
  }

  /** It has not been served for so long that it is not only late. */
  get isAbsent(): boolean {
    return this.#notServedMs !== undefined && this.#clock.elapsed() - this.#notServedMs >= ABSENT_MS;
  }

  /** Why nothing should be decided by the copy; undefined where it is live. */
  problem({ optional }: { optional: boolean }): string | undefined {
    if (this.#notServedMs !== undefined) {
      return optional && this.isAbsent ? undefined : 'not served by the API server';
    }
    if (this.#failure === undefined || this.silentMs <= SILENT_MS) return undefined;
    return `not heard of for ${Math.round(this.silentMs / 1000)} s: ${this.#failure}`;
  }

  #tell(message: string): void {
    const nowMs = this.#clock.elapsed();
    if (this.#told?.message === message && nowMs - this.#told.atMs < TELL_AGAIN_MS) return;
    this.#told = { message, atMs: nowMs };
    this.#log.warn({ ...this.#resource, error: this.#failure }, message);
  }
}
