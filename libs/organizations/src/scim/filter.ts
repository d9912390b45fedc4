/**
 * Translates SCIM filters (RFC 7644, section 3.4.2.2) to jsonpath predicates. The text of the statement therefore
 * stays the same for every filter.
 */
import { badRequest, scimAttributeName } from '@muster/contract';
import { type Filter, parse } from 'scim2-parse-filter';

type Comparison = Extract<Filter, { compValue: unknown }>;

/** The keys of the document that a filter is applied to, by SCIM attribute in lower case. */
export type FilterAttributes = Readonly<Record<string, { readonly key: string; readonly kind: ValueKind }>>;
/**
 * Texts of the kind `text` are compared without regard to case. A `reference` is not in the document; it can only be
 * required to have a value.
 */
type ValueKind = 'text' | 'exact' | 'boolean' | 'time' | 'reference';
type FilterAttribute = FilterAttributes[string];

export interface CompiledFilter {
  /** A jsonpath predicate over the document; null without a filter. */
  readonly path: string | null;
  /** Values that the document must have at these keys, so that an index finds its row. */
  readonly required: Readonly<Record<string, string>>;
}

/** A predicate that is always true. */
const alwaysTrue = '1 == 1';

const invalidFilter = (message: string) =>
  badRequest(`The filter is invalid: ${message.slice(0, 200)}`, [
    { path: 'filter', message: message.slice(0, 200) },
  ]);

/** Parses a filter. Throws 400 if its syntax is invalid. */
export function parseFilter(text: string): Filter {
  // Line breaks within a quoted value would cost the parser exponential time.
  if (/\p{Cc}/u.test(text)) throw invalidFilter('must not contain control characters');
  try {
    return parse(text);
  } catch {
    throw invalidFilter('does not follow the syntax of RFC 7644');
  }
}

/** Compiles a filter over these attributes. Throws 400 if it is invalid. */
export function compileFilter(text: string | undefined, attributes: FilterAttributes): CompiledFilter {
  if (text === undefined) return { path: null, required: {} };
  const required: Record<string, string> = {};

  const attributeOf = (name: string): FilterAttribute => {
    const normalized = scimAttributeName(name);
    const found = Object.hasOwn(attributes, normalized) ? attributes[normalized] : undefined;
    if (found === undefined) throw invalidFilter(`cannot filter by ${name}`);
    return found;
  };
  /** `isRequired` is true for a condition that every match meets: the whole filter, or a part of its conjunction. */
  const predicateOf = (filter: Filter, prefix: string, isRequired: boolean): string => {
    if ('filters' in filter) {
      const isConjunction = filter.op === 'and';
      return filter.filters
        .map((part) => `(${predicateOf(part, prefix, isRequired && isConjunction)})`)
        .join(isConjunction ? ' && ' : ' || ');
    }
    if ('filter' in filter) return `!(${predicateOf(filter.filter, prefix, false)})`;
    if ('valFilter' in filter) return predicateOf(filter.valFilter, `${filter.attrPath}.`, isRequired);
    const attribute = attributeOf(prefix + filter.attrPath);
    const { key, kind } = attribute;
    const value = 'compValue' in filter ? operandOf(filter.compValue, kind) : null;
    if (filter.op === 'eq' && isRequired && typeof value === 'string') required[key] ??= value;
    if (kind === 'reference') {
      if (required[key] === undefined || required[key] !== value)
        throw invalidFilter(`can only require one value with ${filter.attrPath} eq`);
      return alwaysTrue;
    }
    return 'compValue' in filter ? comparisonOf(filter, attribute) : `$.${key} != null`;
  };
  return { path: predicateOf(parseFilter(text), '', true), required };
}

const comparisonOperators = { eq: '==', ne: '!=', gt: '>', ge: '>=', lt: '<', le: '<=' } as const;

/** Writes a text as a literal, which jsonpath reads like JSON. */
const literalOf = (value: string | boolean | null): string => JSON.stringify(value);

function comparisonOf({ op, compValue }: Comparison, { key, kind }: FilterAttribute): string {
  const value = operandOf(compValue, kind);
  if (op === 'sw' || op === 'ew' || op === 'co') {
    if (typeof value !== 'string') throw invalidFilter(`${op} needs a text`);
    if (op === 'sw') return `$.${key} starts with ${literalOf(value)}`;
    if (op === 'co') return `$.${key} like_regex ${literalOf(value)} flag "q"`;
    return `$.${key} like_regex ${literalOf(`${value.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}$`)}`;
  }
  if (typeof value !== 'string' && op !== 'eq' && op !== 'ne') throw invalidFilter(`${op} needs a text`);
  return `$.${key} ${comparisonOperators[op]} ${literalOf(value)}`;
}

function operandOf(value: Comparison['compValue'], kind: ValueKind): string | boolean | null {
  if (value === null) return null;
  if (kind === 'boolean') {
    const word = String(value).toLowerCase();
    if (word !== 'true' && word !== 'false') throw invalidFilter('must compare with true or false');
    return word === 'true';
  }
  if (typeof value !== 'string') throw invalidFilter('must compare with a text');
  if (kind === 'exact') return value;
  if (kind === 'text' || kind === 'reference') return value.toLowerCase();
  const time = new Date(value);
  if (Number.isNaN(time.getTime()))
    throw invalidFilter('must compare with a time such as 2026-11-30T09:00:00Z');
  return time.toISOString();
}
