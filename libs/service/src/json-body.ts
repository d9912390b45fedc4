/**
 * Bodies as JSON in UTF-8, checked before anything looks at them. JSON.parse alone lets through what later breaks:
 * bytes that are no UTF-8 and lone surrogates (silently replaced), NUL (Postgres refuses it), nesting that overflows
 * the stack when written out again.
 */
import { isUtf8 } from 'node:buffer';
import { ApiError, isCleanText } from '@muster/registry';

/** Deeper than any parameter of the contract; 500,000 levels parse and then overflow JSON.stringify. */
export const deepest = 32;

const badJson = (message: string): ApiError =>
  new ApiError('bad_request', message, { reason: 'invalid_json', retryable: false });

/** Whether brackets outside of strings nest deeper than allowed. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (inString) {
      if (unit === 0x5c) index += 1;
      else if (unit === 0x22) inString = false;
    } else if (unit === 0x22) inString = true;
    else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > deepest) return true;
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
  }
  return false;
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

/** The parsed body; undefined for an empty one. Throws 400. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw badJson('The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  if (isTooDeep(text)) throw badJson(`The body nests deeper than ${deepest} levels.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badJson('The body is not valid JSON.');
  }
  if (text.includes('\\u') && !isClean(value))
    throw badJson('The body has NUL or a lone surrogate in a text.');
  return value;
}

const jsonInUtf8 = /^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i;

/** Whether a Content-Type is one that parseJsonBody reads. */
export const isJsonContentType = (contentType: string): boolean => jsonInUtf8.test(contentType);
