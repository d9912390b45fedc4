/**
 * Fits results into a model's context. A result lists each part that was cut and the call that returns the
 * rest.
 */
import { issuePath } from '@muster/contract';

/** A text or list that was shortened. */
export interface CutPart {
  readonly path: string;
  /** Length of the whole text; omitted if the API cut it without stating the length. */
  readonly length?: number;
  readonly shown?: number;
  /** A value for the `part` parameter of a read, which then returns the text or items that follow. */
  readonly next?: string;
}

/** The parts of a result that were shortened, and how to get the rest. */
export interface ShortenedParts {
  readonly parts: readonly CutPart[];
  readonly how: string;
}

/** The offset in a text or list at which the result begins. */
interface PartStart {
  readonly path: string;
  readonly offset: number;
}

export type AnswerBody = Readonly<Record<string, unknown>>;

export const jsonBytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Counts the leading items that fit into `room` bytes; at least one. */
export function countFitting(items: readonly unknown[], maxBytes: number): number {
  let used = 0;
  for (const [index, item] of items.entries()) {
    used += jsonBytesOf(item) + 1;
    if (used > maxBytes) return Math.max(1, index);
  }
  return items.length;
}

interface CuttableValue {
  readonly path: readonly (string | number)[];
  readonly value: string | readonly unknown[];
  readonly bytes: number;
}

/**
 * The shortest text that may be cut, in characters. Shorter texts identify a record, and cutting them would
 * save little.
 */
const minTextChars = 300;
const minListItems = 3;

function* findCuttableValues(value: unknown, path: readonly (string | number)[]): Generator<CuttableValue> {
  if (typeof value === 'string') {
    if (value.length > minTextChars) yield { path, value, bytes: jsonBytesOf(value) };
  } else if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    if (items.length > minListItems) yield { path, value: items, bytes: jsonBytesOf(items) };
    for (const [index, item] of items.entries()) yield* findCuttableValues(item, [...path, index]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* findCuttableValues(inner, [...path, key]);
  }
}

/** Copies the value with `leaf` at `path`. */
function replaceAtPath(
  value: unknown,
  [head, ...rest]: readonly (string | number)[],
  leaf: unknown,
): unknown {
  if (head === undefined) return leaf;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === head ? replaceAtPath(item, rest, leaf) : item));
  return Object.fromEntries(
    Object.entries(value as object).map(([key, inner]) => [
      key,
      key === head ? replaceAtPath(inner, rest, leaf) : inner,
    ]),
  );
}

/** Cuts the text at `length`, or one character earlier rather than inside a surrogate pair. */
export function truncateText(text: string, length: number): string {
  const end = Math.max(0, length);
  return /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? text.slice(0, end - 1) : text.slice(0, end);
}

/** Bytes reserved for the description of the cut parts. */
const bytesReservedForCutParts = 600;
const maxCuts = 40;

interface CutOptions {
  readonly continueHint: string;
  /** True if a caller can continue reading a cut part at its `next` value. */
  readonly isContinuable?: boolean;
  /** The text or list of which this result omits the beginning. */
  readonly start?: PartStart;
}

/** Shortens the result to at most `room` bytes. The longest texts and lists lose their ends first. */
export function shortenTo(
  answer: AnswerBody,
  maxBytes: number,
  { continueHint, isContinuable = false, start }: CutOptions,
): AnswerBody {
  if (jsonBytesOf(answer) <= maxBytes) return answer;
  const parts = new Map<string, CutPart>();
  let left: unknown = answer;
  for (let cuts = 0; cuts < maxCuts; cuts += 1) {
    const over = jsonBytesOf(left) - (maxBytes - bytesReservedForCutParts);
    if (over <= 0) break;
    const all = [...findCuttableValues(left, [])].sort((a, b) => b.bytes - a.bytes);
    // Cut texts before lists: a list with a missing item is less useful than one with shorter items.
    const longest = all.find(({ value }) => typeof value === 'string') ?? all[0];
    if (longest === undefined) break;
    const { path, value, bytes } = longest;
    const share = Math.max(0, 1 - over / bytes);
    const shown =
      typeof value === 'string'
        ? truncateText(value, Math.max(minTextChars, Math.floor(value.length * share)))
        : value.slice(
            0,
            Math.max(minListItems, Math.min(value.length - 1, Math.floor(value.length * share))),
          );
    const words = issuePath(path);
    const from = start?.path === words ? start.offset : 0;
    parts.set(words, {
      path: words,
      length: parts.get(words)?.length ?? from + value.length,
      shown: shown.length,
      ...(isContinuable && { next: `${words}@${from + shown.length}` }),
    });
    left = replaceAtPath(left, path, shown);
  }
  const cut: ShortenedParts = { parts: [...parts.values()], how: continueHint };
  return { ...(left as AnswerBody), cut };
}

/** Splits a path: `items[2].body` → items, 2, body. */
const parsePath = (pathText: string): (string | number)[] =>
  [...pathText.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([name, index]) =>
    index === undefined ? name : Number(index),
  );

/**
 * Returns the result with the text or list that `part` names starting at its offset; undefined if `part`
 * names no text or list.
 */
export function skipToPart(
  answer: AnswerBody,
  part: string,
): { answer: AnswerBody; start: PartStart } | undefined {
  const [, words, offset] = /^(.{1,500})@(\d{1,9})$/.exec(part) ?? [];
  if (words === undefined) return undefined;
  const at = Number(offset);
  const path = parsePath(words);
  const value = path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as Readonly<Record<string | number, unknown>>)[name]
        : undefined,
    answer,
  );
  if ((typeof value !== 'string' && !Array.isArray(value)) || at > value.length) return undefined;
  return {
    answer: replaceAtPath(answer, path, value.slice(at)) as AnswerBody,
    start: { path: words, offset: at },
  };
}
