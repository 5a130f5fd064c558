/** Clients that read and write objects, one request at a time, and note what they asked and what they were told. */
import type { Connection, Question, Reply } from './client.ts';
import type { Answer, Collection, ObjectOperation } from './history.ts';
import { BUDGET, bodyOf, budgetBody, collectionPath, GUARDED_PODS, holding, itemOf, type Stage } from './stage.ts';

interface Client {
  readonly name: string;
  readonly stage: Stage;
  readonly connection: Connection;
}

type Kind = ObjectOperation['kind'];

const NAMES: Readonly<Record<Collection, readonly string[]>> = {
  configmaps: ['c0', 'c1', 'c2', 'c3'],
  roles: ['r0', 'r1', 'r2'],
  pods: ['p0', 'p1', 'p2'],
};
const KINDS: Readonly<Record<Collection, readonly Kind[]>> = {
  configmaps: ['create', 'create', 'put', 'put', 'swap', 'delete', 'get', 'get'],
  roles: ['create', 'append', 'append', 'append', 'put', 'delete', 'get', 'get'],
  pods: ['create', 'create', 'put', 'evict', 'delete', 'get'],
};
const MERGE = 'application/merge-patch+json';

/** Goes on until the history ends; while the server is dead it waits for the next. */
export async function write(client: Client): Promise<void> {
  const { dice, whenUp } = client.stage;
  while (await whenUp()) {
    await dice.weighed<() => Promise<void>>([
      [16, () => touch(client)],
      [3, () => list(client)],
      [1, () => evictGuarded(client)],
      [1, () => lookAtBudget(client)],
      [0.5, () => setBudget(client)],
    ])();
  }
}

/** Asks, and tells the moments before and after; undefined where the server never got the request. */
async function ask({ connection, stage }: Client, question: Question) {
  const called = stage.tick();
  const asked = connection.ask(question);
  stage.happened('sent');
  const reply = await asked;
  if (reply === 'never sent') return undefined;
  if (reply !== undefined) stage.happened('answered');
  return { called, answered: reply && stage.tick(), reply };
}

async function touch(client: Client): Promise<void> {
  const { dice } = client.stage;
  const collection = dice.pick(['configmaps', 'configmaps', 'roles', 'pods'] as const);
  const name = dice.pick(NAMES[collection]);
  await operate(client, { collection, name, kind: dice.pick(KINDS[collection]) });
}

/** The last write of a history: who has heard of it has heard of everything. */
export async function writeLast(client: Client, collection: Collection): Promise<number> {
  const done = await operate(client, { collection, name: 'last', kind: 'create' });
  if (done?.is !== 'done' || done.revision === undefined) throw new Error(`The last write had no answer: ${done?.is}`);
  return done.revision;
}

type Planned = Pick<ObjectOperation, 'collection' | 'kind' | 'name'>;
type Intent = Planned & Pick<ObjectOperation, 'expected' | 'revision' | 'value'>;

async function operate(client: Client, planned: Planned): Promise<Answer | undefined> {
  const { stage } = client;
  const { dice, history, seen } = stage;
  const { kind } = planned;
  const known = seen.get(`${planned.collection}/${planned.name}`);
  const isWrite = kind !== 'get' && kind !== 'delete' && kind !== 'evict';
  const isConditional = known !== undefined && (kind === 'put' || kind === 'delete') && dice.chance(0.5);
  const intent: Intent = {
    ...planned,
    value: isWrite ? stage.newValue() : undefined,
    revision: isConditional ? known.revision : undefined,
    expected: kind === 'swap' ? (known?.value ?? 'nothing') : undefined,
  };
  const told = await ask(client, questionOf(stage, intent));
  if (told === undefined || (told.reply === undefined && kind === 'get')) return undefined;
  const { answered, called, reply } = told;
  const answer = reply && answerOf(stage, intent, reply);
  if (reply !== undefined && answer === undefined) {
    stage.odd.push(
      `${client.name}: ${JSON.stringify(intent)} was answered ${reply.status} ${JSON.stringify(reply.object)}`,
    );
    return undefined;
  }
  history.operations.push({ ...intent, client: client.name, called, answered, answer });
  return answer;
}

function questionOf(stage: Stage, { collection, expected, kind, name, revision, value = '' }: Intent): Question {
  const all = collectionPath(stage, collection);
  const path = `${all}/${name}`;
  const at = revision === undefined ? {} : { resourceVersion: String(revision) };
  switch (kind) {
    case 'create':
      return { method: 'POST', path: all, body: bodyOf(collection, name, value) };
    case 'get':
      return { method: 'GET', path };
    case 'put': {
      const whole = collection === 'configmaps' && stage.dice.chance(0.5);
      if (whole) return { method: 'PUT', path, body: { ...holding(collection, value), metadata: { name, ...at } } };
      const held = holding(collection, value) as { metadata?: object };
      return { method: 'PATCH', path, type: MERGE, body: { ...held, metadata: { ...held.metadata, ...at } } };
    }
    case 'append': {
      const body = [{ op: 'add', path: '/rules/0/resourceNames/-', value }];
      return { method: 'PATCH', path, type: 'application/json-patch+json', body };
    }
    case 'swap': {
      const operations = { test: expected, replace: value };
      const body = Object.entries(operations).map(([op, one]) => ({ op, path: '/data/value', value: one }));
      return { method: 'PATCH', path, type: 'application/json-patch+json', body };
    }
    case 'delete':
      return {
        method: 'DELETE',
        path,
        body: { gracePeriodSeconds: 0, ...(revision !== undefined && { preconditions: at }) },
      };
    case 'evict':
      return { method: 'POST', path: `${path}/eviction`, body: evictionOf(name) };
  }
}

const evictionOf = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });

/** Undefined for what may not be answered. */
function answerOf({ seen }: Stage, { collection, kind, name }: Intent, { object, status }: Reply): Answer | undefined {
  if (status === 404) return { is: 'absent' };
  if (status === 409) return { is: object.reason === 'AlreadyExists' ? 'exists' : 'conflict' };
  if (status === 422 && kind === 'swap') return { is: 'mismatch' };
  if (status === 429 && kind === 'evict' && isOfBudget(object)) return { is: 'full' };
  if (status !== 200 && status !== 201) return undefined;
  if (kind === 'delete' || kind === 'evict') return { is: 'done' };
  const { revision, value } = itemOf(collection, object);
  seen.set(`${collection}/${name}`, { value, revision });
  return { is: 'done', value, revision };
}

const isOfBudget = ({ details }: Reply['object']): boolean =>
  details?.causes?.some(({ reason }) => reason === 'DisruptionBudget') === true;

/** Another of the pods that the budget holds: the same request is one of the pod's history and one of the budget's. */
async function evictGuarded(client: Client): Promise<void> {
  const { dice, history } = client.stage;
  const before = history.operations.length;
  await operate(client, { collection: 'pods', name: dice.pick(GUARDED_PODS), kind: 'evict' });
  // Others may have noted theirs meanwhile.
  const mine = history.operations.slice(before).find((one) => one.client === client.name);
  if (mine === undefined || mine.answer?.is === 'absent') return;
  const { answer, answered, called } = mine;
  const told = answer?.is === 'done' || answer?.is === 'full' ? { is: answer.is } : undefined;
  history.budget.push({ kind: 'evict', client: client.name, called, answered, answer: told });
}

const budgetPath = (stage: Stage): string => `${collectionPath(stage, 'poddisruptionbudgets')}/${BUDGET}`;

async function lookAtBudget(client: Client): Promise<void> {
  const { history, seen } = client.stage;
  const told = await ask(client, { method: 'GET', path: budgetPath(client.stage) });
  if (told?.reply?.status !== 200) return;
  const { metadata, status } = told.reply.object;
  const { disruptionsAllowed: allowed = 0 } = status as { disruptionsAllowed?: number };
  const revision = Number(metadata?.resourceVersion);
  seen.set(BUDGET, { value: String(allowed), revision });
  const { answered, called } = told;
  history.budget.push({
    kind: 'get',
    client: client.name,
    called,
    answered,
    answer: { is: 'done', allowed, revision },
  });
}

/** Another allowance than the one that was read: the same would change nothing and have no revision of its own. */
async function setBudget(client: Client): Promise<void> {
  const { dice, history, odd, seen } = client.stage;
  const known = seen.get(BUDGET);
  if (known === undefined) return;
  const { revision } = known;
  const allowed = dice.pick([0, 1, 2, 3].filter((one) => String(one) !== known.value));
  const body = budgetBody(allowed, revision);
  const told = await ask(client, { method: 'PATCH', path: `${budgetPath(client.stage)}/status`, type: MERGE, body });
  if (told === undefined) return;
  const { answered, called, reply } = told;
  const operation = { kind: 'set', client: client.name, allowed, revision, called, answered } as const;
  if (reply === undefined) history.budget.push(operation);
  else if (reply.status === 409) history.budget.push({ ...operation, answer: { is: 'conflict' } });
  else if (reply.status === 200) {
    const made = Number(reply.object.metadata?.resourceVersion);
    seen.set(BUDGET, { value: String(allowed), revision: made });
    history.budget.push({ ...operation, answer: { is: 'done', revision: made } });
  } else odd.push(`${client.name}: the budget's status was answered ${JSON.stringify(reply)}`);
}

/** All at once, in pages, or as it was at a revision. */
async function list(client: Client): Promise<void> {
  const { dice } = client.stage;
  const collection = dice.pick(['configmaps', 'roles', 'pods'] as const);
  await listOf(client, collection, dice.chance(0.3) ? 2 : undefined);
}

/** Undefined where a page had no answer. */
export async function listOf(client: Client, collection: Collection, limit?: number): Promise<number | undefined> {
  const { history, odd } = client.stage;
  const items = [];
  let [called, revision, next] = [0, 0, ''];
  do {
    const query = limit === undefined ? '' : `?limit=${limit}&continue=${encodeURIComponent(next)}`;
    const told = await ask(client, { method: 'GET', path: `${collectionPath(client.stage, collection)}${query}` });
    if (told?.reply === undefined) return undefined;
    const { object, status } = told.reply;
    // The rest of a list may be gone with the server that began it.
    if (status === 410 && next !== '') return undefined;
    if (status !== 200) {
      odd.push(`${client.name}: a list of ${collection} was answered ${status} ${JSON.stringify(object)}`);
      return undefined;
    }
    if (next === '') [called, revision] = [told.called, Number(object.metadata?.resourceVersion)];
    for (const item of object.items ?? []) {
      const { name, revision: at, value } = itemOf(collection, item);
      items.push({ name, value, revision: at });
    }
    next = (object.metadata?.['continue'] as string | undefined) ?? '';
  } while (next !== '');
  const answered = client.stage.tick();
  history.listings.push({
    client: client.name,
    collection,
    called,
    answered,
    revision,
    items,
    isPast: limit !== undefined,
  });
  return revision;
}
