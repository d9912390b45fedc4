/** Delivery, so far: whether two globs over repository paths are in each other's way, decided exactly. */
export { commonPath, Effort, TooIntricate } from './rules/glob-intersection.ts';
export { type Glob, MalformedGlob, parseGlob } from './rules/glob-syntax.ts';
