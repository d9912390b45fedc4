/** Recognizes names as models write them: parameters, enum values, and ids with surrounding whitespace. */
import { type AnswerBody } from '../answers/answers.ts';
import { type ToolSchema } from '../tools/schemas.ts';

/** Normalizes a name: `In Progress`, `in-progress` and `IN_PROGRESS` are equal. */
const normalizeName = (name: string): string => name.replaceAll(/[\s_-]/g, '').toLowerCase();

const singleOrUndefined = <Value>(values: readonly Value[]): Value | undefined =>
  values.length === 1 ? values[0] : undefined;

/** Minimum length of an accepted prefix. A shorter prefix would be ambiguous. */
const minPrefixLength = 4;

/**
 * Finds the one value that equals the text or starts with it, ignoring case, such as `approved` for
 * `approve`. Returns undefined if no value or more than one matches.
 */
export function matchValue(text: string, values: readonly unknown[]): unknown {
  if (values.includes(text)) return text;
  const wanted = normalizeName(text);
  const texts = values.filter((value) => typeof value === 'string');
  const equal = singleOrUndefined(texts.filter((value) => normalizeName(value) === wanted));
  if (equal !== undefined || wanted.length < minPrefixLength) return equal;
  return singleOrUndefined(texts.filter((value) => normalizeName(value).startsWith(wanted)));
}

/**
 * Returns the parameter that `story_id` or `StoryID` means, unless it matches none or the same parameter is
 * given twice.
 */
export function resolveParameterName(
  givenName: string,
  properties: Readonly<Record<string, ToolSchema>>,
  args: AnswerBody,
): string {
  if (Object.hasOwn(properties, givenName)) return givenName;
  const alike = (name: string): boolean => normalizeName(name) === normalizeName(givenName);
  const name = singleOrUndefined(Object.keys(properties).filter(alike));
  return name === undefined || Object.keys(args).filter(alike).length > 1 ? givenName : name;
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Trims ids, keys and times, and lowercases ids. Other texts are unchanged. */
export function normalizeIdentifierText(
  { format, pattern, 'x-muster-ref': ref }: ToolSchema,
  text: string,
): string {
  if (format === undefined && pattern === undefined && ref === undefined) return text;
  const bare = text.trim();
  return uuidPattern.test(bare) ? bare.toLowerCase() : bare;
}
