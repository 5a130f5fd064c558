import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openLmdbStore } from '../../src/storage/index.ts';

const writerScript = fileURLToPath(new URL('full-disk-writer.ts', import.meta.url));
const LIMIT_BLOCKS = 8192; // of 512 bytes: 4 MB

test.skipIf(process.platform === 'win32')(
  'a store on a full disk refuses writes, loses nothing and recovers',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'quorate-full-'));
    try {
      // With the signal ignored, a write past the limit fails as on a full disk.
      const command = `trap '' XFSZ; ulimit -f ${LIMIT_BLOCKS}; exec "$0" --import tsx "$1" "$2"`;
      const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, writerScript, directory]);
      const result = JSON.parse(stdout.trim().split('\n').pop()!) as {
        written: number;
        laterRevision: number;
      };
      expect(result.written).toBeGreaterThan(10);
      expect(result).toMatchObject({
        refused: true,
        afterRefusal: { revision: result.written, count: result.written, oneStillReads: 100_000 },
      });

      const store = await openLmdbStore({ directory });
      expect([store.revision, store.count('/full/')]).toEqual([result.laterRevision, result.written - 4]);
      expect(store.get('/small')?.value.length).toBe(10);
      await store.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
);
