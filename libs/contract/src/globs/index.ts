/** Globs over repository paths: their syntax, and the rules for resources. Delivery compares them. */
export * from './code-points.ts';
export * from './glob-syntax.ts';
export * from './resources.ts';
