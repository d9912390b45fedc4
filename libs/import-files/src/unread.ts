/** Lists the fields of an object that were not read, so that no data is lost silently. */

export type JsonItem = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonItem =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  value === 0 ||
  (Array.isArray(value) && value.every(isEmpty)) ||
  (isObject(value) && Object.values(value).every(isEmpty));

/**
 * Lists the fields with a value that are not in the set. The set has the fields that were read or are
 * irrelevant to the work.
 */
export const unread = (value: JsonItem, read: ReadonlySet<string>): string[] =>
  Object.entries(value).flatMap(([key, said]) => (read.has(key) || isEmpty(said) ? [] : [key]));

/** Lists the unread fields of a part of an item, in the form `visibility of a comment`. */
export const unreadOf = (part: string, value: JsonItem, read: ReadonlySet<string>): string[] =>
  unread(value, read).map((field) => `${field} of ${part}`);
