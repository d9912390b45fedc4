/** What the content of a contract must be, by its kind. */
import { type ContractKind } from '@muster/registry';

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Kinds whose content is JSON, and what it must be; the rest is for their own compilers to judge. */
const jsonKinds: Partial<
  Record<ContractKind, { readonly takes: (value: unknown) => boolean; readonly what: string }>
> = {
  openapi: { takes: isObject, what: 'object' },
  // A schema may be true, which takes everything, or false, which takes nothing.
  json_schema: { takes: (value) => isObject(value) || typeof value === 'boolean', what: 'object or boolean' },
};

/** Why the content is not of its kind; null where nothing speaks against it. */
export function flawOf(kind: ContractKind, content: string): string | null {
  const wanted = jsonKinds[kind];
  if (wanted === undefined) return null;
  try {
    const value: unknown = JSON.parse(content);
    return wanted.takes(value) ? null : `the content is JSON, but no ${wanted.what}`;
  } catch {
    return 'the content is no JSON';
  }
}
