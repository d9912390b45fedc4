/** Checks a contract's content by its kind. */
import { type ContractKind } from '@muster/contract';

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The kinds with JSON content, and the type of value each requires. The content of other kinds is not
 * checked.
 */
const jsonKinds: Partial<
  Record<ContractKind, { readonly accepts: (value: unknown) => boolean; readonly what: string }>
> = {
  openapi: { accepts: isObject, what: 'object' },
  // A schema may be `true`, which accepts every value, or `false`, which accepts none.
  json_schema: {
    accepts: (value) => isObject(value) || typeof value === 'boolean',
    what: 'object or boolean',
  },
};

/** Returns the problem of a contract's content; null if there is none. */
export function findContentProblem(kind: ContractKind, content: string): string | null {
  const wanted = jsonKinds[kind];
  if (wanted === undefined) return null;
  try {
    const value: unknown = JSON.parse(content);
    return wanted.accepts(value) ? null : `the content is valid JSON, but not a JSON ${wanted.what}`;
  } catch {
    return 'the content is not valid JSON';
  }
}
