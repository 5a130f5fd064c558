/** Saves a checkpoint when its group is told to go. In a project of your own, import from 'quorate/responder'. */
import { rename, writeFile } from 'node:fs/promises';
import { createResponder } from '../../src/responder-sdk/index.ts';

const { CHECKPOINT = 'checkpoint.json', NOTICE_TOKEN, PORT = '8080' } = process.env;

const responder = createResponder(
  async (notice, { progress }) => {
    progress('saving');
    // Complete or not there: a half-written checkpoint is none.
    await writeFile(`${CHECKPOINT}.new`, JSON.stringify({ group: notice.group.name, savedFor: notice.id }));
    await rename(`${CHECKPOINT}.new`, CHECKPOINT);
  },
  NOTICE_TOKEN === undefined ? {} : { auth: { value: NOTICE_TOKEN } },
);

const { port } = await responder.listen({ port: Number(PORT) });
console.log(`listening on port ${port}`);
