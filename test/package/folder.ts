/** A folder for the packed and installed package, one for the whole run; it stays empty unless a test asks for it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    packageFolder: string;
  }
}

export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-package-'));
  project.provide('packageFolder', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
