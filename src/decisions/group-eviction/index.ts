export * from './decide.ts';
export * from './refusal.ts';
export * from './target.ts';
