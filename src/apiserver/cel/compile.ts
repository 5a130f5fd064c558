/** Expressions of admission: compiled once, then evaluated against requests. */
import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { LIMITS } from '../exchange/limits.ts';
import { registerLibrary } from './library.ts';
import { budgetOf, type CelBudget, meter, metered } from './meter.ts';
import { rewriteSource } from './rewrite.ts';

/** Throws when the evaluation fails, or costs more than what is left of the budget. */
export type Program = (variables: Readonly<Record<string, unknown>>, budget?: CelBudget) => unknown;

export type Compiled =
  | { readonly valid: true; readonly run: Program; readonly ast: ASTNode }
  | { readonly valid: false; readonly message: string };

/** What every admission expression may use. */
const ADMISSION_VARIABLES = ['object', 'oldObject', 'request', 'params', 'namespaceObject', 'authorizer', 'variables'];

const environments = new Map<string, Environment>();

function environmentFor(variables: readonly string[]): Environment {
  const key = variables.join(' ');
  let environment = environments.get(key);
  if (environment === undefined) {
    environment = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true });
    registerLibrary(environment);
    for (const name of variables) environment.registerVariable(name, 'dyn');
    environments.set(key, environment);
  }
  return environment;
}

export function compileCel(expression: string, variables: readonly string[] = ADMISSION_VARIABLES): Compiled {
  if (expression.length > LIMITS.celCharacters) {
    const size = `size: ${expression.length}, limit ${LIMITS.celCharacters}`;
    return { valid: false, message: `Syntax error: expression code point size exceeds limit: ${size}` };
  }
  try {
    const environment = environmentFor(variables);
    const run = environment.parse(rewriteSource(expression));
    const checked = run.check();
    if (!checked.valid) return { valid: false, message: messageOf(checked.error) };
    meter(run.ast);
    const evaluate: Program = (values, budget = budgetOf(values)) =>
      metered(budget, () => run({ ...values }) as unknown);
    return { valid: true, run: evaluate, ast: run.ast };
  } catch (error) {
    return { valid: false, message: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  const { message = 'cannot be checked' } = (error ?? {}) as Partial<Error>;
  return error instanceof ParseError ? `Syntax error: ${message}` : message;
}

const MAX_PROGRAMS = 2000;
const programs = new Map<string, Program>();

/** Like `compileCel`, for expressions that were checked when they were stored; a broken one throws when run. */
export function programOf(expression: string, variables?: readonly string[]): Program {
  const key = `${variables?.join(' ') ?? ''}\n${expression}`;
  let program = programs.get(key);
  if (program === undefined) {
    const compiled = compileCel(expression, variables);
    program = compiled.valid
      ? compiled.run
      : () => {
          throw new Error(`compilation failed: ${compiled.message}`);
        };
    if (programs.size >= MAX_PROGRAMS) programs.clear();
    programs.set(key, program);
  }
  return program;
}
