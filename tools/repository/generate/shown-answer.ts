/**
 * Formats an answer for the reference. The result is short and is the same whenever and wherever it is
 * generated.
 */

/** The prefix of ids in the contract's examples. */
const exampleId = '01936d5c-0000-7000-8000-';
const uuid = /(\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b)/;
const time = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/**
 * Matches secrets, hashes and cursors: long texts without spaces that have a digit or, by chance without one,
 * several capitals.
 */
const opaque = /(?<![\w-])(must_[a-z]+_|whsec_)?(?=[\w+/-]*\d|(?:[\w+-]*[A-Z]){4})[\w+/-]{24,}={0,2}/g;
const week = /\b\d{4}-W\d\d\b/g;
/** Matches the slug of an organization that an example does not name. */
const otherSlug = /\borg-[\da-f]{12}\b/g;
/** Parts of a token or a license key that answers show. They differ in each call. */
const glimpses: Readonly<Record<string, RegExp>> = {
  prefix: /(?<=^must_[a-z]+_)\w+$/,
  lastFour: /^.+$/,
};

/** The time at which the calls in the reference seem to have been made. */
const callTime = Date.parse('2026-03-02T09:00:00.000Z');
const minute = 60_000;
const day = 24 * 60 * minute;

/** The number of items that are shown of a list. */
const mostItems = 2;
const mostCharacters = 300;

/**
 * Returns the time that the reference shows for a time in an answer. A time keeps its distance to the call if
 * the distance is less than a day or whole days. Other times, such as dates, move to the month before or
 * after.
 */
function shownTime(at: number, now: number): string {
  const distance = Math.round((at - now) / minute) * minute;
  const isNear = at % day !== 0 && (Math.abs(distance) < day || distance % day === 0);
  return new Date(callTime + (isNear ? distance : 30 * day * Math.sign(distance))).toISOString();
}

/** Returns the shown answer. `now` is the time of the real answer. */
export function shown(answer: unknown, now: Date): unknown {
  const ids = new Map<string, string>();
  const idOf = (id: string): string => {
    if (id.startsWith(exampleId)) return id;
    const known = ids.get(id) ?? `${exampleId}1${String(ids.size + 1).padStart(11, '0')}`;
    ids.set(id, known);
    return known;
  };
  const wordsOf = (words: string): string =>
    words
      .replaceAll(/(?<=[?&]expires=)\d+/g, '…')
      .replaceAll(time, (at) => shownTime(Date.parse(at), now.getTime()))
      .replaceAll(week, '2026-W09')
      .replaceAll(otherSlug, 'globex')
      .replaceAll(opaque, '$1…');
  const textOf = (text: string, key: string): string => {
    const glimpse = glimpses[key];
    if (glimpse !== undefined) return text.replace(glimpse, 'x9Kd');
    const short = text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
    return short
      .split(uuid)
      .map((part, index) => (index % 2 === 1 ? idOf(part) : wordsOf(part)))
      .join('');
  };
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return textOf(value, key);
    if (Array.isArray(value)) return value.slice(0, mostItems).map((item) => walk(item, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, walk(inside, name)]));
  };
  return walk(answer, '');
}
