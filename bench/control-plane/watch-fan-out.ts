import { type ClientHttp2Session, connect } from 'node:http2';
import { createLoad, expectStatus } from './load.ts';
import { type Measure, percentile } from './report.ts';
import type { Target } from './target.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const STREAMS_PER_CONNECTION = 50;
const MARKER_LENGTH = 'marker-000000-'.length;

/** How long one write takes to reach each of many watchers, from the moment it is sent. */
export async function measureFanOut(
  target: Target,
  { watchers, writes }: { watchers: number; writes: number },
): Promise<Measure[]> {
  const { send, close } = createLoad(target, 1);
  const sessions = await Promise.all(
    Array.from({ length: Math.ceil(watchers / STREAMS_PER_CONNECTION) }, () => openSession(target)),
  );
  const samples: number[] = [];
  let marker = '';
  let sentAt = 0;
  let missing = 0;
  let allArrived = () => {};
  const arrived = () => {
    samples.push(performance.now() - sentAt);
    missing--;
    if (missing === 0) allArrived();
  };
  try {
    await Promise.all(
      Array.from({ length: watchers }, (_, at) => {
        const session = sessions[Math.floor(at / STREAMS_PER_CONNECTION)] as ClientHttp2Session;
        // A chunk may end in the middle of the marker.
        let tail = '';
        return openWatch(session, target, (text) => {
          const unread = tail + text;
          const found = marker !== '' && unread.includes(marker);
          tail = found ? '' : unread.slice(-MARKER_LENGTH);
          if (found) arrived();
        });
      }),
    );
    for (let write = 0; write < writes; write++) {
      marker = `marker-${String(write).padStart(6, '0')}-`;
      missing = watchers;
      const everywhere = new Promise<void>((resolve) => {
        allArrived = resolve;
      });
      const body = JSON.stringify({ metadata: { name: `map-${write}` }, data: { marker } });
      sentAt = performance.now();
      await expectStatus(send('POST', MAPS, body), 201);
      await everywhere;
    }
    return [
      { name: `watch fan-out to ${watchers}, median`, unit: 'ms', value: percentile(samples, 0.5) },
      { name: `watch fan-out to ${watchers}, 99th percentile`, unit: 'ms', value: percentile(samples, 0.99) },
    ];
  } finally {
    close();
    for (const session of sessions) session.destroy();
  }
}

function openSession({ server, tls }: Target): Promise<ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    const session = connect(server, { ...tls });
    session.once('connect', () => resolve(session));
    session.once('error', reject);
  });
}

function openWatch(session: ClientHttp2Session, { headers }: Target, onText: (text: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':path': `${MAPS}?watch=true&resourceVersion=0`,
      accept: 'application/json',
      ...headers,
    });
    stream.setEncoding('utf8');
    stream.on('response', () => resolve());
    stream.on('error', reject);
    stream.on('data', onText);
  });
}
