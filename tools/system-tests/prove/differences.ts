/**
 * Counts the differences between received and stored events, in any order: missed, repeated and foreign
 * events.
 */
export function strayIn<Event>(seen: readonly Event[], all: readonly Event[]): string[] {
  const [got, known] = [new Set(seen), new Set(all)];
  return inWords(all.length, {
    'were missed': all.filter((one) => !got.has(one)).length,
    'came more than once': seen.length - got.size,
    'came that are not its own': seen.filter((one) => !known.has(one)).length,
  });
}

/** Lists the differences between the received events and the stream, in the stream's order. */
export function differencesIn<Event>(seen: readonly Event[], all: readonly Event[]): string[] {
  const placeOf = new Map(all.map((one, place) => [one, place]));
  const places = seen.map((one) => placeOf.get(one)).filter((place) => place !== undefined);
  const early = places.filter((place, index) => place < (places[index - 1] ?? 0)).length;
  return [...strayIn(seen, all), ...inWords(all.length, { 'came behind later ones': early })];
}

const inWords = (all: number, counts: Readonly<Record<string, number>>): string[] =>
  Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${count} of ${all} events ${what}`] : []));
