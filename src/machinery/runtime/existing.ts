import { isNotFound } from './api-error.ts';

/** What is read; undefined where there is no such object. */
export async function existing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
