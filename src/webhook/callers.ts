/** Whose reviews are believed: the API server's alone, told by its certificate or by a secret in the path. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

export interface Callers {
  /** PEM of who signs the certificates of callers; absent where none are asked for. */
  readonly authority?: string | undefined;
  /** Whether a request on this connection, with this token in its path, is believed. */
  believes(socket: TLSSocket, token: string | undefined): Promise<boolean>;
}

/** 32 random bytes in hex, as the first part of the path: API servers want names of hosts there, and no capitals. */
const TOKEN_PATH = /^\/([0-9a-f]{64})(\/.*)$/;

export function splitToken(path: string): { token: string | undefined; path: string } {
  const [, token, rest] = TOKEN_PATH.exec(path) ?? [];
  return rest === undefined ? { token: undefined, path } : { token, path: rest };
}

export function withToken(token: string | undefined, path: string): string {
  return token === undefined ? path : `/${token}${path}`;
}

/** Believes who shows a certificate of the authority, with one of the names where names are given. */
export function callersByCertificate(authority: string, names: readonly string[] = []): Callers {
  return {
    authority,
    believes(socket) {
      if (!socket.authorized) return Promise.resolve(false);
      const { subject } = socket.getPeerCertificate();
      return Promise.resolve(names.length === 0 || [subject?.CN ?? []].flat().some((name) => names.includes(name)));
    },
  };
}

/** Believes who knows a token. `refresh` is asked for the tokens of now when one is not known, as after a renewal. */
export function callersByToken({
  refresh,
  tokens,
}: {
  tokens: () => readonly string[];
  refresh?: (() => Promise<void>) | undefined;
}): Callers {
  return {
    async believes(_socket, token) {
      if (token === undefined) return false;
      if (tokens().some((known) => isSame(known, token))) return true;
      if (refresh === undefined) return false;
      await refresh();
      return tokens().some((known) => isSame(known, token));
    },
  };
}

/** Takes as long whatever the two have in common. */
function isSame(known: string, given: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(known), digest(given));
}
