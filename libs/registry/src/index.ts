export * from './registry.ts';
export { updateOneOfMany } from './namespaces/stories-bulk.ts';
export { meaningOfParameter, parameterMeanings } from './meanings.ts';
