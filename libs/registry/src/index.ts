export * from './registry.ts';
export { meaningOfParameter, parameterMeanings } from './meanings.ts';
