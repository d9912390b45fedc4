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
const shortestText = 1_024;

type Place = readonly (string | number)[];

/** A text that appears in both the parameters and the response, by its paths. */
export interface Taken {
  readonly inAnswer: Place;
  readonly inParams: Place;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function placesOfTexts(value: unknown, place: Place, found: Map<string, Place>): Map<string, Place> {
  if (typeof value === 'string') {
    if (value.length >= shortestText && !found.has(value)) found.set(value, place);
  } else if (Array.isArray(value)) value.forEach((item, nth) => placesOfTexts(item, [...place, nth], found));
  else if (isRecord(value))
    for (const [name, item] of Object.entries(value)) placesOfTexts(item, [...place, name], found);
  return found;
}

function without(value: unknown, sent: ReadonlyMap<string, Place>, place: Place, taken: Taken[]): unknown {
  if (typeof value === 'string') {
    const inParams = value.length < shortestText ? undefined : sent.get(value);
    if (inParams === undefined) return value;
    taken.push({ inAnswer: place, inParams });
    return '';
  }
  if (Array.isArray(value)) return value.map((item, nth) => without(item, sent, [...place, nth], taken));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, without(item, sent, [...place, name], taken)]),
  );
}

/** Returns the response without the long texts of the parameters, and their positions. */
export function takeOut(params: unknown, answer: unknown): { rest: unknown; taken: readonly Taken[] } {
  const sent = placesOfTexts(params, [], new Map());
  const taken: Taken[] = [];
  return { rest: sent.size === 0 ? answer : without(answer, sent, [], taken), taken };
}

const at = (value: unknown, place: Place): unknown =>
  place.reduce((inner, step) => (inner as Record<string | number, unknown>)[step], value);

/** Restores the full response. */
export function putBack(params: unknown, rest: unknown, taken: readonly Taken[]): unknown {
  for (const { inAnswer, inParams } of taken) {
    const holder = at(rest, inAnswer.slice(0, -1)) as Record<string | number, unknown>;
    holder[inAnswer.at(-1) ?? ''] = at(params, inParams);
  }
  return rest;
}
