import { readFileSync } from 'node:fs';

export interface SpecResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
}

/** Reads the spec outcomes out of the report that the e2e binary writes. */
export function readJunit(path: string): SpecResult[] {
  return parseJunit(readFileSync(path, 'utf8'));
}

export function parseJunit(xml: string): SpecResult[] {
  const results: SpecResult[] = [];
  for (const [, attributes = ''] of xml.matchAll(/<testcase ([^>]*?)\/?>/g)) {
    const name = decodeEntities(/\bname="([^"]*)"/.exec(attributes)?.[1] ?? '');
    const status = /\bstatus="([^"]*)"/.exec(attributes)?.[1] ?? '';
    if (!name.startsWith('[It] ')) continue;
    const outcome =
      status === 'passed' ? 'passed' : status === 'skipped' || status === 'pending' ? 'skipped' : 'failed';
    results.push({ name: name.slice('[It] '.length), outcome });
  }
  return results;
}

function decodeEntities(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(#x?[0-9a-fA-F]+|\w+);/g, (whole, entity: string) => {
    if (entity.startsWith('#x')) return String.fromCodePoint(Number.parseInt(entity.slice(2), 16));
    if (entity.startsWith('#')) return String.fromCodePoint(Number(entity.slice(1)));
    return named[entity] ?? whole;
  });
}
