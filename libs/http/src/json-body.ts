/**
 * Parses JSON bodies in UTF-8 and checks them first. JSON.parse alone accepts input that fails later: invalid
 * UTF-8 and lone surrogates (silently replaced), and NUL (refused by Postgres). It also accepts nesting so
 * deep that serializing overflows the stack, and millions of values, each of which takes many times its bytes
 * in memory.
 */
import { isUtf8 } from 'node:buffer';
import { type IncomingHttpHeaders } from 'node:http';
import {
  type ApiError,
  exceededJsonLimit,
  isCleanText,
  malformedRequest,
  payloadTooLarge,
  unsupportedMediaType,
} from '@muster/contract';

/**
 * The maximum nesting depth, which exceeds every parameter of the contract. A depth of 500,000 can be parsed
 * but overflows JSON.stringify.
 */
export const maxJsonDepth = 32;

/** The maximum number of values in a body. */
export interface ValueLimits {
  /** The limit for bodies of up to 256 KiB. */
  readonly usual: number;
  readonly large: number;
}

/**
 * The default limits, several times the number of values in the largest board or agent that fits into a body.
 */
export const defaultValueLimits: ValueLimits = { usual: 500_000, large: 500_000 };

const smallBodyMaxBytes = 256 * 1024;

const invalidJsonError = (message: string): ApiError => malformedRequest('invalid_json', message);
const tooManyValuesError = (max: number): ApiError =>
  payloadTooLarge('too_many_values', `The body has more than ${max} values.`);

/** Checks depth and number of values before the body is parsed. Throws 400 and 413. */
function requireWithinJsonLimits(text: string, maxValues: number): void {
  const limit = exceededJsonLimit(text, { depth: maxJsonDepth, values: maxValues });
  if (limit === 'depth') throw invalidJsonError(`The body is nested more than ${maxJsonDepth} levels deep.`);
  // guard: values of a body
  if (limit === 'values') throw tooManyValuesError(maxValues);
}

/**
 * Checks every key and text in the value. In valid UTF-8, only escapes can produce NUL or lone surrogates.
 */
function hasCleanTexts(value: unknown): boolean {
  if (typeof value === 'string') return isCleanText(value);
  if (Array.isArray(value)) return value.every(hasCleanTexts);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).every(([key, inner]) => isCleanText(key) && hasCleanTexts(inner));
  return true;
}

/** Parses a body; undefined for an empty one. Throws 400 and 413. */
export function parseJsonBody(bytes: Buffer, valueLimits: ValueLimits = defaultValueLimits): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw invalidJsonError('The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  requireWithinJsonLimits(text, bytes.length > smallBodyMaxBytes ? valueLimits.large : valueLimits.usual);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidJsonError('The body is not valid JSON.');
  }
  const isClean = !text.includes('\\u') || hasCleanTexts(value);
  // guard: texts are clean
  if (!isClean) throw invalidJsonError('A text in the body has NUL or an unpaired surrogate.');
  return value;
}

/** Throws 415 for a compressed body, since its size does not limit the size of its content. */
export function requireUncompressed({ 'content-encoding': encoding }: IncomingHttpHeaders): void {
  if (encoding !== undefined && !/^(?:identity)?$/i.test(encoding.trim()))
    throw unsupportedMediaType('The body is compressed. Send it without Content-Encoding.');
}

const jsonContentTypePattern = /^application\/(?:scim\+)?json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i;

/** True for a Content-Type that parseJsonBody supports. */
export const isJsonContentType = (contentType: string): boolean => jsonContentTypePattern.test(contentType);
