/** What an import would do, before it does anything: how many items, which statuses go where, what is left out. */
import { type Fitting } from './fit.ts';
import { type ImportFile } from './open.ts';
import { type FileStatus, type Place } from './statuses.ts';

/** A status that the file has, and its place; undefined where the board has none. */
export interface StatusPlace {
  readonly name: string;
  readonly items: number;
  readonly place: Place | undefined;
}

/** Who did or does something in the file that knows them by name alone; undefined where no address was said for them. */
export interface NamedPerson {
  readonly name: string;
  /** As who does a story, and as who wrote a comment. */
  readonly times: number;
  readonly email: string | undefined;
}

/** What has no place here, and in which items. */
export interface LeftOut {
  readonly what: string;
  readonly places: readonly string[];
}

export interface Survey {
  /** All that the file has, items or not. */
  readonly entries: number;
  readonly items: number;
  readonly comments: number;
  readonly epics: number;
  readonly statuses: readonly StatusPlace[];
  /** Who is named most often comes first. */
  readonly people: readonly NamedPerson[];
  /** Items that cannot become stories, but for those whose status has no place. */
  readonly refused: readonly { readonly place: string; readonly why: string }[];
  /** What the file has beside items, by why it is left out; and what items have that stories have no place for. */
  readonly leftOut: readonly LeftOut[];
  readonly notes: readonly string[];
}

export async function surveyFile(file: ImportFile, fitting: Fitting): Promise<Survey> {
  // One status may be several things to the tracker itself, and so have several places.
  const statuses = new Map<string, { name: string; items: number; place: Place | undefined }>();
  const placeOf = (status: FileStatus): Place | undefined => {
    const { name } = status;
    const place = fitting.placeOf(status);
    const key = JSON.stringify([name, place]);
    const items = (statuses.get(key)?.items ?? 0) + 1;
    statuses.set(key, { name, items, place });
    return place;
  };
  // Trackers write a name in one way; people who type it do not.
  const people = new Map<string, { name: string; times: number }>();
  const onPerson = (name: string): void => {
    const times = (people.get(name.toLowerCase())?.times ?? 0) + 1;
    people.set(name.toLowerCase(), { name: people.get(name.toLowerCase())?.name ?? name, times });
  };
  const leftOut = new Map<string, string[]>();
  const leave = (what: string, place: string): void => {
    const places = leftOut.get(what);
    if (places === undefined) leftOut.set(what, [place]);
    else if (places.at(-1) !== place) places.push(place);
  };
  const refused: { place: string; why: string }[] = [];
  const epics = new Set<string>();
  let [entries, items, comments] = [0, 0, 0];
  for await (const entry of file.entries({ ...fitting, placeOf, onPerson })) {
    entries += 1;
    if (entry.kind === 'refused') {
      if (entry.for === 'item') refused.push({ place: entry.place, why: entry.why });
    } else if (entry.kind === 'skipped') leave(entry.why, entry.place);
    else {
      items += 1;
      comments += entry.item.comments.length;
      if (entry.item.epic !== undefined) epics.add(entry.item.epic.externalId);
      for (const note of entry.notes) leave(note, entry.place);
    }
  }
  return {
    ...{ entries, items, comments, epics: epics.size, refused, notes: file.notes },
    statuses: [...statuses.values()],
    people: [...people]
      .map(([key, person]) => ({ ...person, email: fitting.people?.get(key) }))
      .toSorted((one, other) => other.times - one.times),
    leftOut: [...leftOut].map(([what, places]) => ({ what, places })),
  };
}
