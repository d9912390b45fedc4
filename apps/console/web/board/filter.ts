/** Decides which cards match the filters in the address. */
import { type Priority, type StoryCard, type StoryStatus } from '@muster/contract';
import { serverNow } from '../data/time.ts';
import { isPastDate } from '../messages/index.ts';

export const workFilters = ['start', 'live', 'waiting', 'rework', 'blocked', 'overdue', 'dueSoon'] as const;
export type WorkFilter = (typeof workFilters)[number];
const priorityNames: readonly Priority[] = ['urgent', 'high', 'medium', 'low', 'none'];
export { priorityNames };
export const statusNames: readonly StoryStatus[] = [
  ...(['backlog', 'ready', 'in_progress', 'in_review', 'done', 'canceled'] as const),
];
export const layouts = ['board', 'list', 'table', 'timeline'] as const;
export type Layout = (typeof layouts)[number];
/** The fields by which stories are grouped. */
export const groupings = [
  ...(['none', 'status', 'epic', 'assignee', 'agent', 'priority', 'label', 'parent', 'project'] as const),
] as const;
export type Grouping = (typeof groupings)[number];
export const sortings = ['board', 'priority', 'dueDate', 'updated', 'created'] as const;
export type Sorting = (typeof sortings)[number];

interface StoryFilter {
  readonly q?: string;
  /** Ids of members or agents, handles, `me` or `none`. */
  readonly who?: readonly string[];
  readonly label?: readonly string[];
  readonly priority?: readonly Priority[];
  readonly work?: readonly WorkFilter[];
  readonly status?: readonly StoryStatus[];
  /** The id of an epic, set by the epic's link to the board. */
  readonly epic?: string;
  /** The following filters are only set by saved views. */
  readonly column?: string;
  /** The id of the parent. */
  readonly parent?: string;
  /** A calendar date. Only stories that are due before it match. */
  readonly due?: string;
  /** True for stories that unfinished ones block, false for the others. */
  readonly waits?: boolean;
}

/** The state of a board or view in its address: filters, and how the stories are arranged. */
export interface BoardSearch extends StoryFilter {
  /** The id of a saved view. It applies if the address has no layout. */
  readonly view?: string;
  readonly layout?: Layout;
  readonly group?: Grouping;
  readonly sort?: Sorting;
  /** The columns of a table. */
  readonly columns?: readonly string[];
}

const parseText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;
const parseList = (value: unknown): string[] | undefined => {
  const list = (Array.isArray(value) ? value : [value]).flatMap((one: unknown) => parseText(one) ?? []);
  return list.length === 0 ? undefined : list;
};
const parseKnownValues = <T extends string>(value: unknown, knownValues: readonly T[]): T[] | undefined => {
  const list = parseList(value)?.filter((one): one is T => (knownValues as readonly string[]).includes(one));
  return list === undefined || list.length === 0 ? undefined : list;
};

/** Parses the state of an address. Unknown values are dropped, since anyone may write an address. */
export function parseBoardSearch(search: Record<string, unknown>): BoardSearch {
  const parsed: { [Key in keyof BoardSearch]: BoardSearch[Key] | undefined } = {
    q: parseText(search['q']),
    who: parseList(search['who']),
    label: parseList(search['label']),
    priority: parseKnownValues(search['priority'], priorityNames),
    work: parseKnownValues(search['work'], workFilters),
    status: parseKnownValues(search['status'], statusNames),
    epic: parseText(search['epic']),
    column: parseText(search['column']),
    parent: parseText(search['parent']),
    due: parseText(search['due']),
    waits: typeof search['waits'] === 'boolean' ? search['waits'] : undefined,
    view: parseText(search['view']),
    layout: parseKnownValues(search['layout'], layouts)?.[0],
    group: parseKnownValues(search['group'], groupings)?.[0],
    sort: parseKnownValues(search['sort'], sortings)?.[0],
    columns: parseList(search['columns']),
  };
  return Object.fromEntries(Object.entries(parsed).filter(([, value]) => value !== undefined));
}

/** Returns how the stories are arranged, without the filters. */
export function withoutFilters({ view, layout, group, sort, columns }: BoardSearch): BoardSearch {
  return parseBoardSearch({ view, layout, group, sort, columns });
}

export const hasActiveFilters = (search: BoardSearch): boolean =>
  Object.keys(search).length > Object.keys(withoutFilters(search)).length;

/** Returns true if the stories are shown in the columns of the project, in their own order. */
export const isPlainBoard = ({ layout = 'board', group = 'none', sort = 'board' }: BoardSearch): boolean =>
  layout === 'board' && (group === 'none' || group === 'status') && sort === 'board';

/** Returns true if work on the story can start: nothing blocks it, no child is open, and no one works on it. */
export const canStartNow = ({ status, blocked, counts, children, execution }: StoryCard): boolean =>
  (status === 'backlog' || status === 'ready') &&
  blocked === null &&
  counts.openBlockers === 0 &&
  (children === null || children.done >= children.total) &&
  (execution === null || execution.state === 'available');

/** Returns true if a person or an unfinished story blocks the story. */
export const isBlocked = ({ blocked, counts }: Pick<StoryCard, 'blocked' | 'counts'>): boolean =>
  blocked !== null || counts.openBlockers > 0;

const isOpen = ({ status }: Pick<StoryCard, 'status'>): boolean => status !== 'done' && status !== 'canceled';

/** Returns true if the story is open and its due date has passed. */
export const isOverdue = (card: Pick<StoryCard, 'status' | 'dueDate'>): boolean =>
  card.dueDate !== null && isOpen(card) && isPastDate(card.dueDate);

const dueSoonMs = 7 * 86_400_000;

/** Returns true if the story is open and due today or within the next seven days. */
export const isDueSoon = (card: Pick<StoryCard, 'status' | 'dueDate'>): boolean =>
  card.dueDate !== null &&
  isOpen(card) &&
  !isPastDate(card.dueDate) &&
  isPastDate(card.dueDate, serverNow() + dueSoonMs + 86_400_000);

const workFilterPredicates: Record<WorkFilter, (card: StoryCard) => boolean> = {
  start: canStartNow,
  live: ({ execution }) => execution !== null && execution.holder !== null,
  waiting: ({ execution }) => execution?.state === 'waiting_input',
  rework: ({ execution }) => execution?.needsRework === true,
  blocked: isBlocked,
  overdue: isOverdue,
  dueSoon: isDueSoon,
};

const splitIntoWords = (q: string): readonly string[] => q.trim().toLocaleLowerCase().split(/\s+/);

/**
 * Returns true if a card matches. Values of one filter are alternatives; different filters must all match.
 * `viewerId` is the id of the member that `me` stands for.
 */
export function matchesFilter(card: StoryCard, filter: StoryFilter, viewerId?: string): boolean {
  const { q, who, label, priority, work, status, epic, column, parent, due, waits } = filter;
  if (epic !== undefined && card.epicId !== epic) return false;
  if (column !== undefined && card.columnId !== column) return false;
  if (parent !== undefined && card.parentId !== parent) return false;
  if (due !== undefined && (card.dueDate === null || card.dueDate >= due)) return false;
  if (waits !== undefined && card.counts.openBlockers > 0 !== waits) return false;
  if (status?.includes(card.status) === false) return false;
  if (q !== undefined) {
    const text = `${card.key} ${card.title}`.toLocaleLowerCase();
    if (!splitIntoWords(q).every((word) => text.includes(word))) return false;
  }
  const { member, agent } = card.assignees;
  const isOneOf = (one: string): boolean => {
    if (one === 'none') return member === null && agent === null;
    if (one === 'me') return member !== null && member.id === viewerId;
    return one === member?.id || one === member?.handle || one === agent?.id;
  };
  if (who?.some(isOneOf) === false) return false;
  if (label?.some((one) => card.labels.includes(one)) === false) return false;
  if (priority?.includes(card.priority) === false) return false;
  return work?.some((one) => workFilterPredicates[one](card)) !== false;
}

/** Adds the value to the list, or removes it if present. Returns undefined if the list becomes empty. */
export function toggleValue<T>(list: readonly T[] | undefined, value: T): readonly T[] | undefined {
  const next =
    list?.includes(value) === true ? list.filter((one) => one !== value) : [...(list ?? []), value];
  return next.length === 0 ? undefined : next;
}

/** Returns the filter with one field set or removed. */
export function withFilter<Filter extends object, Field extends keyof Filter>(
  filter: Filter,
  field: Field,
  value: Filter[Field] | undefined,
): Filter {
  const rest = Object.fromEntries(Object.entries(filter).filter(([name]) => name !== field)) as Filter;
  return value === undefined || value === '' ? rest : { ...rest, [field]: value };
}
