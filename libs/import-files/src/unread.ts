/** Lists the fields of an object that were not read, so that no data is lost silently. */

export type JsonItem = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonItem =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEmptyValue = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  value === 0 ||
  (Array.isArray(value) && value.every(isEmptyValue)) ||
  (isObject(value) && Object.values(value).every(isEmptyValue));

/**
 * Lists the fields with a value that are not in the set. The set has the fields that were read or are
 * irrelevant to the work.
 */
export const listUnreadFields = (value: JsonItem, readFields: ReadonlySet<string>): string[] =>
  Object.entries(value).flatMap(([key, said]) => (readFields.has(key) || isEmptyValue(said) ? [] : [key]));

/** Lists the unread fields of a part of an item, in the form `visibility of a comment`. */
export const listUnreadFieldsOfPart = (
  part: string,
  value: JsonItem,
  readFields: ReadonlySet<string>,
): string[] => listUnreadFields(value, readFields).map((field) => `${field} of ${part}`);
