/** Which place on the board a status of another tracker has. */
import { type ColumnStatus, type StoryStatus, storyStatuses } from '@muster/registry';
import { columnName } from './csv.ts';

const statusWords: Readonly<Record<StoryStatus, readonly string[]>> = {
  backlog: ['backlog', 'open', 'new', 'triage', 'icebox', 'later', 'unstarted', 'someday', 'ideas', 'inbox'],
  ready: ['ready', 'todo', 'to do', 'selected', 'selected for development', 'next', 'planned', 'up next'],
  in_progress: ['in progress', 'doing', 'started', 'active', 'wip', 'in development', 'reopened'],
  in_review: ['in review', 'review', 'reviewing', 'code review', 'testing', 'in testing', 'qa', 'in qa'],
  done: ['done', 'closed', 'resolved', 'completed', 'complete', 'finished', 'merged', 'shipped', 'released'],
  canceled: [
    'canceled',
    'cancelled',
    'wontfix',
    "won't fix",
    "won't do",
    'not planned',
    'rejected',
    'duplicate',
  ],
};

/** Where a status goes: to the end of a column by its name, or of the first column of a status. */
export type Place = { readonly column: string } | { readonly status: StoryStatus };

/** The columns of the board that items come to; undefined where the board is not known. */
export type Columns = readonly { readonly name: string; readonly status: ColumnStatus }[] | undefined;

/** What a status of the file is, to be found a place for. */
export interface FileStatus {
  readonly name: string;
  /** What the tracker itself says that it is. */
  readonly is?: StoryStatus | undefined;
  readonly hint?: StoryStatus | undefined;
}

export type FindPlace = (status: FileStatus) => Place | undefined;

/**
 * Finds places. What was said counts first (the name of a column, then a
 * status; `*` for all that is not known otherwise), then what the tracker says that the
 * status is, then a column of the same name, then the words that trackers use, then the hint. Undefined where none of these
 * knows it, or where the board has no such column.
 */
export function placesOf(columns: Columns, said: ReadonlyMap<string, string> = new Map()): FindPlace {
  const named = new Map([...said].map(([name, place]) => [columnName(name), place]));
  const columnOf = (name: string): Place | undefined => {
    const found = columns?.find((column) => columnName(column.name) === columnName(name));
    return found && { column: found.name };
  };
  const statusOf = (status: StoryStatus | undefined): Place | undefined =>
    status === undefined ||
    (status !== 'canceled' && columns !== undefined && !columns.some((column) => column.status === status))
      ? undefined
      : { status };
  const placeOf = (wanted: string): Place | undefined => {
    if (columns?.some(({ name }) => name === wanted) === true) return { column: wanted };
    const status = storyStatuses.find((one) => one === columnName(wanted).replaceAll(' ', '_'));
    if (status !== undefined) return statusOf(status);
    // Without the board at hand, the API says whether there is such a column.
    return columns === undefined ? { column: wanted } : columnOf(wanted);
  };
  return ({ name, is, hint }) => {
    const wanted = named.get(columnName(name));
    if (wanted !== undefined) return placeOf(wanted);
    const known = storyStatuses.find((status) => statusWords[status].includes(columnName(name)));
    const rest = named.get('*');
    return (
      statusOf(is) ??
      columnOf(name) ??
      statusOf(known ?? hint) ??
      (rest === undefined ? undefined : placeOf(rest))
    );
  };
}
