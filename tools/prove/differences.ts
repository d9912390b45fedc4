/** How what somebody saw of a stream differs from what it has, in its order. */
export function differencesIn<Event>(seen: readonly Event[], all: readonly Event[]): string[] {
  const placeOf = new Map(all.map((one, place) => [one, place]));
  const distinct = new Set(seen);
  const places = seen.map((one) => placeOf.get(one)).filter((place) => place !== undefined);
  const counts = {
    'events were missed': all.filter((one) => !distinct.has(one)).length,
    'events came more than once': seen.length - distinct.size,
    'events came that are not its own': seen.length - places.length,
    'events came behind later ones': places.filter((place, index) => place < (places[index - 1] ?? 0)).length,
  };
  return Object.entries(counts).flatMap(([what, count]) =>
    count > 0 ? [`${count} ${what}, of ${all.length}`] : [],
  );
}
