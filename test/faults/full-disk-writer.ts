/**
 * A process whose files may not grow past a limit: writes until the store refuses, then looks at what it still does.
 * Prints one JSON object.
 */
import { FlushError, openLmdbStore } from '../../src/storage/index.ts';

const [directory = ''] = process.argv.slice(2);
const store = await openLmdbStore({ directory });
const put = (key: string, bytes: number) => store.transact((txn) => txn.put(key, () => Buffer.alloc(bytes, 'x')));

let written = 0;
let refusal: unknown;
while (refusal === undefined && written < 1000) {
  await put(`/full/${written}`, 100_000).then(
    () => written++,
    (error: unknown) => {
      refusal = error;
    },
  );
}
const afterRefusal = {
  revision: store.revision,
  count: store.count('/full/'),
  oneStillReads: store.get('/full/0')?.value.length,
};
for (let at = 0; at < 4; at++) await store.transact((txn) => txn.delete(`/full/${at}`));
const later = await put('/small', 10);
await store.close();
console.log(
  JSON.stringify({ written, refused: refusal instanceof FlushError, afterRefusal, laterRevision: later.revision }),
);
