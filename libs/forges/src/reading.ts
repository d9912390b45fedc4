/** What forges deliver, read without a database: also where a pipeline finds the event that began it. */
export { type Fact, factKey, trailersIn } from './rules/fact.ts';
export { read } from './rules/translations.ts';
