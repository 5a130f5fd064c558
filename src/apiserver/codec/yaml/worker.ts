/** The thread behind apart.ts: gets a YAML text, answers with JSON. */
import { parentPort } from 'node:worker_threads';
import { DecodeError, TooLargeError } from '../decode-error.ts';
import { yamlToJson } from './parse.ts';

export type YamlAnswer =
  | { readonly outcome: 'read'; readonly json: string; readonly duplicates: readonly string[] }
  | { readonly outcome: 'malformed'; readonly message: string }
  | { readonly outcome: 'too large'; readonly message: string };

function answer(text: string): YamlAnswer {
  try {
    return { outcome: 'read', ...yamlToJson(text) };
  } catch (error) {
    if (error instanceof TooLargeError) return { outcome: 'too large', message: error.message };
    return { outcome: 'malformed', message: error instanceof DecodeError ? error.message : String(error) };
  }
}

parentPort?.postMessage('ready');
parentPort?.on('message', (text: string) => parentPort?.postMessage(answer(text)));
