/**
 * A process that writes to the store in the given directory until it is killed. Every line it prints is a promise the
 * store made: "<writer> <number> <revision>" after a transaction was acknowledged.
 *
 * Each transaction puts two keys with the same content and removes the pair of four numbers before, so that a half
 * applied transaction cannot hide.
 */
import { writeSync } from 'node:fs';
import { openLmdbStore } from '../../src/storage/index.ts';

const [directory = ''] = process.argv.slice(2);
const store = await openLmdbStore({ directory });
const first = store.revision;

const write = (writer: number, number: number) =>
  store.transact((txn) => {
    const content = (revision: number) => Buffer.from(JSON.stringify({ revision, number }).padEnd(2000));
    txn.put(`/left/${writer}/${number}`, content);
    const { revision } = txn.put(`/right/${writer}/${number}`, content);
    const old = number - 4;
    if (txn.get(`/left/${writer}/${old}`) !== undefined) {
      txn.delete(`/left/${writer}/${old}`);
      txn.delete(`/right/${writer}/${old}`);
    }
    return revision;
  });

await Promise.all(
  Array.from({ length: 8 }, async (_, writer) => {
    // Numbers go on where the last process stopped, because revisions do.
    for (let number = first + 1; ; number++) {
      const revision = await write(writer, number);
      writeSync(1, `${writer} ${number} ${revision}\n`);
    }
  }),
);
