/** Maps the statuses of another tracker to columns of the board. */
import { type ColumnStatus, type StoryStatus, storyStatuses } from '@muster/contract';
import { normalizeColumnName } from './csv.ts';

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

/** The target of a status: the end of a column by name, or of the first column of a status. */
export type StatusTarget = { readonly column: string } | { readonly status: StoryStatus };

/** The columns of the target board. Undefined if the board is not known. */
export type TargetColumns = readonly { readonly name: string; readonly status: ColumnStatus }[] | undefined;

/** A status in the imported file that has to be mapped to a column of the board. */
export interface FileStatus {
  readonly name: string;
  /** The status that the tracker itself specifies. */
  readonly trackerStatus?: StoryStatus | undefined;
  readonly statusHint?: StoryStatus | undefined;
}

export type FindStatusTarget = (status: FileStatus) => StatusTarget | undefined;

/**
 * Returns a function that maps a tracker's status to a place on the board. It tries, in this order: a mapping
 * in `said` for the name of the status, the status that the tracker specifies, a column of the same name,
 * common words of trackers, the hint, and the mapping in `said` for `*`. A mapping names a column or a
 * status. The function returns undefined if nothing matches, or if the board has no such column.
 */
export function createStatusMapper(
  columns: TargetColumns,
  givenMappings: ReadonlyMap<string, string> = new Map(),
): FindStatusTarget {
  const named = new Map([...givenMappings].map(([name, place]) => [normalizeColumnName(name), place]));
  const columnOf = (name: string): StatusTarget | undefined => {
    const found = columns?.find((column) => normalizeColumnName(column.name) === normalizeColumnName(name));
    return found && { column: found.name };
  };
  const statusOf = (status: StoryStatus | undefined): StatusTarget | undefined =>
    status === undefined ||
    (status !== 'canceled' && columns !== undefined && !columns.some((column) => column.status === status))
      ? undefined
      : { status };
  const placeOf = (wanted: string): StatusTarget | undefined => {
    if (columns?.some(({ name }) => name === wanted) === true) return { column: wanted };
    const status = storyStatuses.find((one) => one === normalizeColumnName(wanted).replaceAll(' ', '_'));
    if (status !== undefined) return statusOf(status);
    // If the columns of the board are not known here, the API checks whether the column exists.
    return columns === undefined ? { column: wanted } : columnOf(wanted);
  };
  return ({ name, trackerStatus, statusHint }) => {
    const wanted = named.get(normalizeColumnName(name));
    if (wanted !== undefined) return placeOf(wanted);
    const known = storyStatuses.find((status) => statusWords[status].includes(normalizeColumnName(name)));
    const rest = named.get('*');
    return (
      statusOf(trackerStatus) ??
      columnOf(name) ??
      statusOf(known ?? statusHint) ??
      (rest === undefined ? undefined : placeOf(rest))
    );
  };
}
