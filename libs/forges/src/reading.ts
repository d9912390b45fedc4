/** What forges deliver, read without a database: also where a pipeline finds the event that began it. */
export { type Fact, factKey } from './rules/fact.ts';
export { trailersOfCommits, trailersOfPull } from './rules/trailers.ts';
export { read } from './rules/translations.ts';
