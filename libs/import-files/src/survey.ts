/**
 * Describes an import before it starts: the number of items, the target of each status, and the parts that
 * are left out.
 */
import { type ConversionOptions } from './fit.ts';
import { type ImportFile } from './open.ts';
import { type FileStatus, type StatusTarget } from './statuses.ts';

/** A status of the file and its target. The target is undefined if the board has none. */
export interface StatusMapping {
  readonly name: string;
  readonly items: number;
  readonly place: StatusTarget | undefined;
}

/** A person whom the file identifies by name. `email` is undefined if the file contains no address of this person. */
export interface NamedPerson {
  readonly name: string;
  /** The number of times that the file mentions the person as an assignee or as the author of a comment. */
  readonly times: number;
  readonly email: string | undefined;
}

/** A part that Muster cannot store, with the items that have it. */
export interface UnimportedPart {
  readonly what: string;
  readonly places: readonly string[];
}

export interface Survey {
  /** The number of entries of the file, including those that are not items. */
  readonly entries: number;
  readonly items: number;
  readonly comments: number;
  readonly epics: number;
  readonly statuses: readonly StatusMapping[];
  /** People in descending order of mentions. */
  readonly people: readonly NamedPerson[];
  /** Items that cannot become stories, except for those whose status has no column. */
  readonly refused: readonly { readonly place: string; readonly why: string }[];
  /**
   * The parts of the file that are not imported: entries that are not items, grouped by reason, and parts of
   * items that stories cannot store.
   */
  readonly unimportedParts: readonly UnimportedPart[];
  readonly notes: readonly string[];
}

export async function surveyFile(file: ImportFile, options: ConversionOptions): Promise<Survey> {
  // The tracker may use one status name for several statuses, which then have several targets.
  const statuses = new Map<string, { name: string; items: number; place: StatusTarget | undefined }>();
  const placeOf = (status: FileStatus): StatusTarget | undefined => {
    const { name } = status;
    const place = options.findStatusTarget(status);
    const key = JSON.stringify([name, place]);
    const items = (statuses.get(key)?.items ?? 0) + 1;
    statuses.set(key, { name, items, place });
    return place;
  };
  // Names are compared in lower case, because people who type a name vary its case.
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
  for await (const entry of file.entries({ ...options, findStatusTarget: placeOf, onPersonName: onPerson })) {
    entries += 1;
    if (entry.kind === 'refused') {
      if (entry.refusedPart === 'item') refused.push({ place: entry.place, why: entry.why });
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
      .map(([key, person]) => ({ ...person, email: options.emailsByName?.get(key) }))
      .toSorted((one, other) => other.times - one.times),
    unimportedParts: [...leftOut].map(([what, places]) => ({ what, places })),
  };
}
