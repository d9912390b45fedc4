/** Decides which cards match the filters in the address. */
import { type Priority, type StoryCard } from '@muster/registry';

export const workFilters = ['start', 'live', 'waiting', 'rework', 'blocked'] as const;
export type WorkFilter = (typeof workFilters)[number];
const priorityNames: readonly Priority[] = ['urgent', 'high', 'medium', 'low', 'none'];
export { priorityNames };

export interface BoardSearch {
  readonly q?: string;
  /** Ids of members or agents, or `none`. */
  readonly who?: readonly string[];
  readonly label?: readonly string[];
  readonly priority?: readonly Priority[];
  readonly work?: readonly WorkFilter[];
  /** The id of an epic, set by the epic's link to the board. */
  readonly epic?: string;
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

/** Parses the filters of an address. Unknown values are dropped, since anyone may write an address. */
export function parseBoardSearch(search: Record<string, unknown>): BoardSearch {
  const [q, who, label] = [parseText(search['q']), parseList(search['who']), parseList(search['label'])];
  const epic = parseText(search['epic']);
  const [priority, work] = [
    parseKnownValues(search['priority'], priorityNames),
    parseKnownValues(search['work'], workFilters),
  ];
  return {
    ...(q !== undefined && { q }),
    ...(who !== undefined && { who }),
    ...(label !== undefined && { label }),
    ...(priority !== undefined && { priority }),
    ...(work !== undefined && { work }),
    ...(epic !== undefined && { epic }),
  };
}

export const hasActiveFilters = (search: BoardSearch): boolean => Object.keys(search).length > 0;

/** Returns true if work on the story can start: nothing blocks it, no child is open, and no one works on it. */
export const canStartNow = ({ status, blocked, counts, children, execution }: StoryCard): boolean =>
  (status === 'backlog' || status === 'ready') &&
  blocked === null &&
  counts.openBlockers === 0 &&
  (children === null || children.done >= children.total) &&
  (execution === null || execution.state === 'available');

const workFilterPredicates: Record<WorkFilter, (card: StoryCard) => boolean> = {
  start: canStartNow,
  live: ({ execution }) => execution !== null && execution.holder !== null,
  waiting: ({ execution }) => execution?.state === 'waiting_input',
  rework: ({ execution }) => execution?.needsRework === true,
  blocked: ({ blocked, counts }) => blocked !== null || counts.openBlockers > 0,
};

const splitIntoWords = (q: string): readonly string[] => q.trim().toLocaleLowerCase().split(/\s+/);

/**
 * Returns true if a card matches. Values of one filter are alternatives; different filters must all match.
 */
export function matchesFilter(
  card: StoryCard,
  { q, who, label, priority, work, epic }: BoardSearch,
): boolean {
  if (epic !== undefined && card.epicId !== epic) return false;
  if (q !== undefined) {
    const text = `${card.key} ${card.title}`.toLocaleLowerCase();
    if (!splitIntoWords(q).every((word) => text.includes(word))) return false;
  }
  const { member, agent } = card.assignees;
  const isOneOf = (id: string): boolean =>
    id === 'none' ? member === null && agent === null : id === member?.id || id === agent?.id;
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
