/**
 * Limits for untrusted JSON text, checked before JSON.parse. Parsing millions of brackets would block the
 * process for seconds, and a deeply nested result would overflow the stack of the code that traverses it.
 */

export interface JsonLimits {
  readonly depth: number;
  readonly values: number;
}

/** Webhook payloads of forges nest about ten levels deep. The largest one has a value for every 25 bytes. */
export const untrustedJsonLimits: JsonLimits = { depth: 64, values: 200_000 };

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const openingBrackets: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closingBrackets: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Returns the limit that the text exceeds, counting brackets and commas outside of strings. The text need not
 * be valid JSON.
 */
export function exceededJsonLimit(
  text: string,
  { depth: maxDepth, values: maxValues }: JsonLimits = untrustedJsonLimits,
): keyof JsonLimits | undefined {
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      for (index += 1; index < text.length && text.charCodeAt(index) !== quote; index += 1)
        if (text.charCodeAt(index) === backslash) index += 1;
    } else if (openingBrackets.has(code)) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) return 'depth';
    } else if (closingBrackets.has(code)) depth -= 1;
    else if (code === comma) values += 1;
    if (values > maxValues) return 'values';
  }
  return undefined;
}

/**
 * Parses untrusted JSON text. Throws SyntaxError if it is invalid or exceeds the limits. A text beyond the
 * limits is not parsed.
 */
export function parseUntrustedJson(
  text: string,
  reviver?: (key: string, value: unknown) => unknown,
): unknown {
  const limit = exceededJsonLimit(text);
  if (limit !== undefined)
    throw new SyntaxError(
      limit === 'depth'
        ? `The JSON is nested more than ${untrustedJsonLimits.depth} levels deep.`
        : `The JSON has more than ${untrustedJsonLimits.values} values.`,
    );
  return JSON.parse(text, reviver) as unknown;
}
