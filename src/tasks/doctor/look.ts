import { ApiError, isNotFound } from '../../machinery/runtime/index.ts';
import type { Looked } from './facts.ts';

/** What is read; absent where there is none, hidden where we may not see it. */
export async function look<T>(read: () => Promise<T>): Promise<Looked<T>> {
  try {
    return { value: await read() };
  } catch (error) {
    if (isNotFound(error)) return {};
    if (error instanceof ApiError) return { hidden: error.message };
    throw error;
  }
}
