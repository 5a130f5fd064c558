import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Peer } from '../exchange/exchange.ts';

const peers = new WeakMap<Socket, Peer>();

/** Who is on the other side of a socket; a certificate counts only when our CA signed it. */
export function peerOf(socket: Socket): Peer {
  const known = peers.get(socket);
  if (known !== undefined) return known;
  const { authorized, remoteAddress } = socket as TLSSocket;
  // Plain sockets have no certificate, and a socket that is already gone answers null.
  const shown = (socket as Partial<TLSSocket>).getPeerCertificate?.()?.subject;
  const subject = authorized ? shown : undefined;
  const organization = subject?.O as string | string[] | undefined;
  const commonName = [subject?.CN ?? []].flat()[0];
  const peer: Peer = {
    ...(remoteAddress !== undefined && { address: remoteAddress }),
    ...(shown !== undefined && !authorized && { certificateRefused: true }),
    ...(commonName && {
      certificate: {
        commonName,
        organizations: organization === undefined ? [] : [organization].flat(),
      },
    }),
  };
  peers.set(socket, peer);
  return peer;
}
