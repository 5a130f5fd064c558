/**
 * What the evaluation of a rule can cost at most, told from its schema: loops run as often as lists may be long, and
 * calls look at as much as texts may hold. Units and rules follow the estimate of the real server; where a value has no
 * schema it is taken to be small, as the cost of evaluations is bounded as well.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import type { JSONSchemaProps } from '../../api/generated/apiextensions-v1.ts';
import { SAFE_MATCHES } from '../cel/library.ts';
import { itemsOf, mostElements, valuesOf } from './schema-size.ts';

interface Estimate {
  readonly cost: number;
  /** Of the value: bytes of a text, items of a list, entries of a map. */
  readonly size: number;
  readonly schema?: JSONSchemaProps | undefined;
}

type Variables = ReadonlyMap<string, Estimate>;

/** Of a tenth of a unit for each byte or item that a call looks at. */
const LOOK = 0.1;
/** Of a text that is made of something else: nobody says how long it may get. */
const UNKNOWN = 2 ** 53;
const LIST_UNITS = 10;
const MAP_UNITS = 30;
/** What a loop adds to each of its steps: the condition, and putting the result where it belongs. */
const LOOPS: Readonly<Record<string, number>> = { all: 3, exists: 3, exists_one: 3, map: 13, filter: 13 };
const WHOLE_LIST = new Set(['sum', 'min', 'max', 'isSorted', 'indexOf', 'lastIndexOf']);
const PATTERNS = new Set([SAFE_MATCHES, 'find', 'findAll']);

export function estimateRule(ast: ASTNode, self: JSONSchemaProps): number {
  const value: Estimate = { cost: 1, size: mostElements(self), schema: self };
  return estimate(
    ast,
    new Map([
      ['self', value],
      ['oldSelf', value],
    ]),
  ).cost;
}

const ofSchema = (cost: number, schema: JSONSchemaProps | undefined): Estimate => ({
  cost,
  size: schema === undefined ? 1 : mostElements(schema),
  schema,
});

function estimate(node: ASTNode, variables: Variables): Estimate {
  const { args, op } = node as { op: string; args: unknown };
  const part = (of: unknown): Estimate => estimate(of as ASTNode, variables);
  switch (op) {
    case 'value':
      return { cost: 0, size: typeof args === 'string' ? args.length : 1 };
    case 'id':
      return variables.get(args as string) ?? { cost: 1, size: 1 };
    case '.':
    case '.?': {
      const [of, name] = args as [ASTNode, unknown];
      const holder = part(of);
      return ofSchema(holder.cost + 1, memberOf(holder.schema, typeof name === 'string' ? name : ''));
    }
    case '[]':
    case '[?]': {
      const [of, index] = (args as ASTNode[]).map(part) as [Estimate, Estimate];
      return ofSchema(of.cost + index.cost + 1, of.schema && (itemsOf(of.schema) ?? valuesOf(of.schema)));
    }
    case '?:': {
      const [condition, yes, no] = (args as ASTNode[]).map(part) as [Estimate, Estimate, Estimate];
      const larger = yes.size >= no.size ? yes : no;
      return { ...larger, cost: condition.cost + Math.max(yes.cost, no.cost) };
    }
    case 'list':
      return { cost: LIST_UNITS + sum((args as ASTNode[]).map(part)), size: (args as ASTNode[]).length };
    case 'map': {
      const entries = args as [ASTNode, ASTNode][];
      return { cost: MAP_UNITS + sum(entries.flat().map(part)), size: entries.length };
    }
    case 'call':
      return call(args as [string, ASTNode[]], part);
    case 'rcall':
      return methodCall(args as [string, ASTNode, ASTNode[]], variables);
    default:
      return operation(op, (Array.isArray(args) ? (args as ASTNode[]) : [args]).map(part));
  }
}

const sum = (parts: readonly Estimate[]): number => parts.reduce((total, { cost }) => total + cost, 0);

function memberOf(schema: JSONSchemaProps | undefined, name: string): JSONSchemaProps | undefined {
  if (schema === undefined) return undefined;
  const { properties = {} } = schema;
  return Object.hasOwn(properties, name) ? properties[name] : valuesOf(schema);
}

/** Operators, by the sizes of what stands on both sides. */
function operation(op: string, sides: readonly Estimate[]): Estimate {
  const cost = sum(sides);
  const [left, right] = sides;
  if (left === undefined || right === undefined || op === '&&' || op === '||') return { cost: cost + 1, size: 1 };
  const smaller = Math.min(left.size, right.size);
  if (op === '+') return { cost: cost + Math.ceil((left.size + right.size) * LOOK), size: left.size + right.size };
  if (op === '==' || op === '!=') return { cost: cost + (smaller > 1 ? Math.ceil(smaller * LOOK) : 0), size: 1 };
  if (op === 'in') return { cost: cost + (right.schema?.type === 'object' ? 1 : right.size), size: 1 };
  return { cost: cost + 1 + Math.floor(smaller * LOOK), size: 1 };
}

function call([name, args]: [string, ASTNode[]], part: (node: ASTNode) => Estimate): Estimate {
  const given = args.map(part);
  const [first, second] = given;
  if (first === undefined) return { cost: 1, size: 1 };
  if (name === 'has') return { cost: 0, size: 1 };
  if (name === SAFE_MATCHES && second !== undefined) return { cost: sum(given) + patternCost(first, second), size: 1 };
  if (name === 'string') return { cost: sum(given) + 1, size: first.schema?.type === 'string' ? first.size : UNKNOWN };
  const looks = name === 'size' || name === 'type' ? 0 : first.size * LOOK;
  return { cost: sum(given) + 1 + looks, size: first.size, schema: name === 'dyn' ? first.schema : undefined };
}

function methodCall([name, receiver, args]: [string, ASTNode, ASTNode[]], variables: Variables): Estimate {
  const [named, body, ...more] = args as [{ op: string; args: unknown } | undefined, ASTNode?, ...ASTNode[]];
  const withNamed = (value: Estimate): Variables => new Map([...variables, [String(named?.args), value]]);
  if (name === 'bind' && named?.op === 'id' && body !== undefined && more[0] !== undefined) {
    const value = estimate(body, variables);
    const inner = estimate(more[0], withNamed({ ...value, cost: 1 }));
    return { ...inner, cost: value.cost + inner.cost };
  }
  const of = estimate(receiver, variables);
  const loop = Object.hasOwn(LOOPS, name) ? LOOPS[name] : undefined;
  if (loop !== undefined && named?.op === 'id' && body !== undefined) {
    const item = ofSchema(1, of.schema && itemsOf(of.schema));
    const steps = [body, ...more].map((step) => estimate(step, withNamed(item)));
    const size = name === 'map' || name === 'filter' ? of.size : 1;
    return {
      cost: of.cost + 1 + of.size * (sum(steps) + loop),
      size,
      schema: name === 'filter' ? of.schema : undefined,
    };
  }
  const given = args.map((arg) => estimate(arg, variables));
  const cost = of.cost + sum(given);
  const [first] = given;
  if (PATTERNS.has(name) && first !== undefined) return { cost: cost + patternCost(of, first), size: of.size };
  if (name === 'size') return { cost: cost + 1, size: 1 };
  if (name === 'join') {
    const items = of.schema && itemsOf(of.schema);
    const size = of.size * ((items === undefined ? 1 : mostElements(items)) + (first?.size ?? 0));
    return { cost: cost + Math.ceil(size * LOOK), size };
  }
  if (WHOLE_LIST.has(name)) return { cost: cost + 1 + of.size, size: 1 };
  if (name === 'contains' && first !== undefined) {
    return { cost: cost + Math.ceil(of.size * LOOK) * Math.ceil(first.size * LOOK), size: 1 };
  }
  if (name === 'startsWith' || name === 'endsWith')
    return { cost: cost + Math.ceil((first?.size ?? 0) * LOOK), size: 1 };
  const optional = name === 'orValue' || name === 'value' || name === 'hasValue' || name === 'or';
  return { ...of, cost: cost + 1 + (optional ? 0 : of.size * LOOK) };
}

const patternCost = (text: Estimate, pattern: Estimate): number =>
  Math.ceil((text.size + 1) * LOOK) * Math.ceil(pattern.size * 0.25);
