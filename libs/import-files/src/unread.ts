/** What an object has that was not read: it is named, so that nothing is lost in silence. */

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  value === 0 ||
  (Array.isArray(value) && value.every(isEmpty)) ||
  (isObject(value) && Object.values(value).every(isEmpty));

/** Names of the fields that say something and are not among those that were read, or say nothing about the work. */
export const unread = (value: Json, read: ReadonlySet<string>): string[] =>
  Object.entries(value).flatMap(([key, said]) => (read.has(key) || isEmpty(said) ? [] : [key]));

/** The same for a part of an item, such as a comment: `visibility of a comment`. */
export const unreadOf = (part: string, value: Json, read: ReadonlySet<string>): string[] =>
  unread(value, read).map((field) => `${field} of ${part}`);
