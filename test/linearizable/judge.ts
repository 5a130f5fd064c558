/** Judges a history: every object by itself, the budget, the watches. */
import { COLLECTIONS, type History, type ObjectOperation, type Violation } from './history.ts';
import { linearize, type Linearization } from './linearize.ts';
import { budgetModel, objectModel } from './models.ts';
import { judgeWatches } from './watch-rules.ts';

export function judge(history: History): Violation[] {
  const violations: Violation[] = [];
  for (const [object, operations] of byObject(history))
    violations.push(...explain(object, linearize(objectModel, operations)));
  violations.push(...explain('the budget', linearize(budgetModel, history.budget)));
  for (const collection of COLLECTIONS) violations.push(...judgeWatches(history, collection));
  return violations;
}

/** Lists of the present are a read of every object there is. */
function byObject({ listings, operations }: History): Map<string, ObjectOperation[]> {
  const objects = new Map<string, ObjectOperation[]>();
  for (const one of operations) {
    const object = `${one.collection}/${one.name}`;
    const known = objects.get(object);
    if (known === undefined) objects.set(object, [one]);
    else known.push(one);
  }
  for (const { answered, called, client, collection, isPast, items } of listings) {
    if (isPast) continue;
    const listed = new Map(items.map((item) => [item.name, item]));
    for (const [object, known] of objects) {
      const [of, name = ''] = object.split('/');
      if (of !== collection) continue;
      const item = listed.get(name);
      const answer =
        item === undefined
          ? ({ is: 'absent' } as const)
          : ({ is: 'done', value: item.value, revision: item.revision } as const);
      known.push({ kind: 'get', client, collection, name, called, answered, answer });
    }
  }
  return objects;
}

function explain(object: string, found: Linearization<object>): Violation[] {
  if (found.is === 'linearizable') return [];
  const at = JSON.stringify(found.at);
  if (found.is === 'too large') return [{ rule: 'linearizable', text: `${object}: too many worlds at ${at}` }];
  return [{ rule: 'linearizable', text: `${object}: nothing explains ${at}; before it: ${found.worlds.join('; ')}` }];
}
