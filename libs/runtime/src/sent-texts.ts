/**
 * Shortens the responses stored for an Idempotency-Key. A response often repeats a long text that the caller
 * sent: a spec, a contract, a prompt. The stored response omits such texts and records their positions. A
 * caller that repeats the key sends the texts again, and the fingerprint proves that they are the same. So
 * the response is restored exactly.
 */

/**
 * The minimum length of an omitted text. For a shorter one, the positions would take as much space as the
 * text.
 */
const minOmittedTextLength = 1_024;

type ValuePath = readonly (string | number)[];

/** A text that appears in both the parameters and the response, by its paths. */
export interface OmittedText {
  readonly inAnswer: ValuePath;
  readonly inParams: ValuePath;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function findLongTexts(
  value: unknown,
  path: ValuePath,
  found: Map<string, ValuePath>,
): Map<string, ValuePath> {
  if (typeof value === 'string') {
    if (value.length >= minOmittedTextLength && !found.has(value)) found.set(value, path);
  } else if (Array.isArray(value)) value.forEach((item, nth) => findLongTexts(item, [...path, nth], found));
  else if (isRecord(value))
    for (const [name, item] of Object.entries(value)) findLongTexts(item, [...path, name], found);
  return found;
}

function omitTexts(
  value: unknown,
  sentTexts: ReadonlyMap<string, ValuePath>,
  path: ValuePath,
  omitted: OmittedText[],
): unknown {
  if (typeof value === 'string') {
    const inParams = value.length < minOmittedTextLength ? undefined : sentTexts.get(value);
    if (inParams === undefined) return value;
    omitted.push({ inAnswer: path, inParams });
    return '';
  }
  if (Array.isArray(value))
    return value.map((item, nth) => omitTexts(item, sentTexts, [...path, nth], omitted));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, omitTexts(item, sentTexts, [...path, name], omitted)]),
  );
}

/**
 * Returns two values: the response without the long texts that the parameters contain, and the positions of
 * the removed texts.
 */
export function omitSentTexts(
  params: unknown,
  response: unknown,
): { strippedValue: unknown; omittedTexts: readonly OmittedText[] } {
  const sent = findLongTexts(params, [], new Map());
  const taken: OmittedText[] = [];
  return {
    strippedValue: sent.size === 0 ? response : omitTexts(response, sent, [], taken),
    omittedTexts: taken,
  };
}

const valueAt = (value: unknown, path: ValuePath): unknown =>
  path.reduce((inner, step) => (inner as Record<string | number, unknown>)[step], value);

/** Puts the texts that the caller sent back into a stored response, which omits them. */
export function restoreSentTexts(
  params: unknown,
  shortened: unknown,
  omitted: readonly OmittedText[],
): unknown {
  for (const { inAnswer, inParams } of omitted) {
    const holder = valueAt(shortened, inAnswer.slice(0, -1)) as Record<string | number, unknown>;
    holder[inAnswer.at(-1) ?? ''] = valueAt(params, inParams);
  }
  return shortened;
}
