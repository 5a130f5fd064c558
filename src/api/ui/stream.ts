/**
 * What the dashboard reads: one stream of lines, each a JSON document, with the objects that decisions depend on. A
 * stream begins with `hello`, then come the objects there are, then `ready`; after that every change as it happens.
 */
import type { KubeObject } from '../resource.ts';

export const STREAM_VERSION = 1;

export interface HelloLine {
  readonly hello: {
    readonly version: typeof STREAM_VERSION;
    /** Who reads. */
    readonly user: string;
    /** Where it comes from, such as `https://127.0.0.1:6443`. */
    readonly server: string;
    /** The server's clock, in milliseconds since 1970. */
    readonly now: number;
  };
}

/** An object that is there, with the fields that decisions read. */
export interface SetLine {
  /** Resource, such as `pods` or `podgroups.scheduling.k8s.io`. */
  readonly set: string;
  readonly object: KubeObject;
}

export interface DeleteLine {
  readonly delete: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * How well a resource is known. `Partly`: only in the namespaces named. `Forbidden`: the reader may not list it.
 * `NotServed`: the server has no such kind, so there are none. `Stale`: the server cannot be asked at present.
 */
export type Knowledge = 'Known' | 'Partly' | 'Forbidden' | 'NotServed' | 'Stale';

export interface KnowledgeLine {
  readonly known: string;
  readonly how: Knowledge;
  readonly namespaces?: readonly string[] | undefined;
  /** Since when and why it is stale, in words. */
  readonly text?: string | undefined;
}

export interface ReadyLine {
  readonly ready: true;
}

/** Sent every few seconds: whoever hears nothing knows that the line is dead. */
export interface BeatLine {
  readonly beat: number;
}

export type StreamLine = HelloLine | SetLine | DeleteLine | KnowledgeLine | ReadyLine | BeatLine;

export const BEAT_MS = 2_000;
/** Silent for longer: what is shown may be old. */
export const SILENT_LINE_MS = 7_000;

/** Sent with everything but page loads: a page from elsewhere cannot, without asking first. */
export const UI_HEADER = 'x-quorate-ui';

/** With a token: where somebody may read who may not list namespaces. */
export const NAMESPACE_HEADER = 'x-quorate-namespace';

/** What a page may know about its session. */
export interface SessionInfo {
  readonly user: string;
  readonly server: string;
  readonly writes: boolean;
}

/** What it is told instead where nobody is logged in: how somebody can. */
export interface LoginInfo {
  readonly login: 'Token' | 'Link';
}
