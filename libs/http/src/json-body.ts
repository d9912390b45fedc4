/**
 * Bodies as JSON in UTF-8, checked before anything looks at them. JSON.parse alone lets through what later breaks:
 * bytes that are no UTF-8 and lone surrogates (silently replaced), NUL (Postgres refuses it), nesting that overflows
 * the stack when written out again, and values by the million, each of which takes many times the bytes that it came in.
 */
import { isUtf8 } from 'node:buffer';
import { type IncomingHttpHeaders } from 'node:http';
import {
  type ApiError,
  exceededJsonLimit,
  isCleanText,
  malformed,
  tooLarge,
  unsupportedMediaType,
} from '@muster/registry';

/** Deeper than any parameter of the contract; 500,000 levels parse and then overflow JSON.stringify. */
export const deepest = 32;

/** How many values a body may have. */
export interface MostValues {
  /** Up to 256 KiB. */
  readonly usual: number;
  readonly large: number;
}

/** Several times what the largest board or agent that fits into a body has. */
export const usualMostValues: MostValues = { usual: 500_000, large: 500_000 };

const usualBytes = 256 * 1024;

const badJson = (message: string): ApiError => malformed('invalid_json', message);

/** Checks depth and number of values before the body is parsed. Throws 400 and 413. */
function requireModest(text: string, allowed: number): void {
  const limit = exceededJsonLimit(text, { depth: deepest, values: allowed });
  if (limit === 'depth') throw badJson(`The body nests deeper than ${deepest} levels.`);
  // guard: values of a body
  if (limit === 'values') throw tooLarge('too_many_values', `The body has more than ${allowed} values.`);
}

/** Every key and text in the value. Only escapes can bring NUL or lone surrogates into checked UTF-8. */
function isClean(value: unknown): boolean {
  if (typeof value === 'string') return isCleanText(value);
  if (Array.isArray(value)) return value.every(isClean);
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).every(([key, inner]) => isCleanText(key) && isClean(inner));
  }
  return true;
}

/** The parsed body; undefined for an empty one. Throws 400 and 413. */
export function parseJsonBody(bytes: Buffer, mostValues: MostValues = usualMostValues): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw badJson('The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  requireModest(text, bytes.length > usualBytes ? mostValues.large : mostValues.usual);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badJson('The body is not valid JSON.');
  }
  // guard: texts are clean
  if (text.includes('\\u') && !isClean(value))
    throw badJson('The body has NUL or a lone surrogate in a text.');
  return value;
}

/** Throws 415 for a compressed body: its size says nothing of what it becomes. */
export function requireUncompressed({ 'content-encoding': encoding }: IncomingHttpHeaders): void {
  if (encoding !== undefined && !/^(?:identity)?$/i.test(encoding.trim()))
    throw unsupportedMediaType('The body is compressed. Send it without Content-Encoding.');
}

const jsonInUtf8 = /^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i;

/** Whether a Content-Type is one that parseJsonBody reads. */
export const isJsonContentType = (contentType: string): boolean => jsonInUtf8.test(contentType);
