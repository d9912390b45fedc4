export * from './pull.ts';
export * from './recorded.ts';
