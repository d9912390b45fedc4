/** Sorts stories and arranges them in groups. */
import { type StoryCard } from '@muster/contract';
import { type Grouping, priorityNames, type Sorting, statusNames } from '../board/filter.ts';
import { projectKeyOf } from '../data/story-key.ts';

/** A group of stories. Its id is the value of the field by which they are grouped; empty for none. */
export interface StoryGroup {
  readonly id: string;
  readonly name: string;
  readonly cards: readonly StoryCard[];
}

/** A field by which stories are grouped, or the waves in which work on them can start. */
export type GroupField = Grouping | 'wave';

/** Names and orders of the records by which stories are grouped. */
export interface GroupContext {
  readonly statusName: (status: StoryCard['status']) => string;
  readonly priorityName: (priority: StoryCard['priority']) => string;
  /** Epics by id, in the order of their groups. */
  readonly epics: ReadonlyMap<string, string>;
  readonly parents: ReadonlyMap<string, string>;
  /** Projects by key. */
  readonly projects: ReadonlyMap<string, string>;
  /** The numbers of the waves by story, from 1 on. */
  readonly waves: ReadonlyMap<string, number>;
  readonly waveName: (wave: number) => string;
  /** The name of the group of stories without a value. */
  readonly noValue: (field: GroupField) => string;
}

/** The time when a story was created, which its id (a UUID of version 7) contains. */
export const createdAtOf = ({ id }: Pick<StoryCard, 'id'>): number =>
  Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const numberOf = ({ key }: StoryCard): number => Number(key.slice(key.lastIndexOf('-') + 1));
const byKey = (one: StoryCard, other: StoryCard): number =>
  compareText(projectKeyOf(one.key), projectKeyOf(other.key)) || numberOf(one) - numberOf(other);

type Compare = (one: StoryCard, other: StoryCard) => number;

const byDueDate: Compare = (one, other) => compareText(one.dueDate ?? '~', other.dueDate ?? '~');
const byPriority: Compare = (one, other) =>
  priorityNames.indexOf(one.priority) - priorityNames.indexOf(other.priority);

/** Returns the comparison of an order. `columnIds` are the columns of the board, from left to right. */
function comparisonOf(sorting: Sorting, columnIds: readonly string[]): Compare {
  const position = ({ columnId, status }: StoryCard): number =>
    columnIds.length === 0 ? statusNames.indexOf(status) : columnIds.indexOf(columnId ?? '');
  switch (sorting) {
    case 'board':
      return (one, other) => position(one) - position(other) || compareText(one.rank, other.rank);
    case 'priority':
      return (one, other) => byPriority(one, other) || byDueDate(one, other);
    case 'dueDate':
      return (one, other) => byDueDate(one, other) || byPriority(one, other);
    case 'updated':
      return (one, other) => compareText(other.updatedAt, one.updatedAt);
    case 'created':
      return (one, other) => compareText(other.id, one.id);
  }
}

export function sortCards(
  cards: readonly StoryCard[],
  sorting: Sorting,
  columnIds: readonly string[],
): StoryCard[] {
  const compare = comparisonOf(sorting, columnIds);
  return cards.toSorted((one, other) => compare(one, other) || byKey(one, other));
}

type GroupValue = readonly [id: string, name: string];

/** Returns the groups of a story: one, or several if it has several labels. */
function valuesOf(card: StoryCard, field: GroupField, context: GroupContext): readonly GroupValue[] {
  const { assignees, status, priority, labels, epicId, parentId } = card;
  switch (field) {
    case 'none':
      return [['', '']];
    case 'wave': {
      const wave = context.waves.get(card.id);
      return wave === undefined ? [] : [[String(wave).padStart(6, '0'), context.waveName(wave)]];
    }
    case 'status':
      return [[status, context.statusName(status)]];
    case 'priority':
      return [[priority, context.priorityName(priority)]];
    case 'epic':
      return epicId === null ? [] : [[epicId, context.epics.get(epicId) ?? '…']];
    case 'parent':
      return parentId === null ? [] : [[parentId, context.parents.get(parentId) ?? '…']];
    case 'assignee':
      return assignees.member === null ? [] : [[assignees.member.id, assignees.member.name]];
    case 'agent':
      return assignees.agent === null ? [] : [[assignees.agent.id, assignees.agent.name]];
    case 'label':
      return labels.map((label) => [label, label]);
    case 'project': {
      const key = projectKeyOf(card.key);
      return [[key, context.projects.get(key) ?? key]];
    }
  }
}

/** Returns the fixed order of the groups; undefined if they are ordered by name. */
function fixedOrder(field: GroupField, { epics }: GroupContext): readonly string[] | undefined {
  if (field === 'status') return statusNames;
  if (field === 'priority') return priorityNames;
  return field === 'epic' ? [...epics.keys()] : undefined;
}

/** Arranges sorted stories in groups. The group of stories without a value is the last one. */
export function groupCards(
  cards: readonly StoryCard[],
  field: GroupField,
  context: GroupContext,
): StoryGroup[] {
  const groups = new Map<
    string,
    { readonly id: string; readonly name: string; readonly cards: StoryCard[] }
  >();
  const add = (card: StoryCard, id: string, name: string): void => {
    const group = groups.get(id) ?? { id, name, cards: [] };
    groups.set(id, group);
    group.cards.push(card);
  };
  for (const card of cards) {
    const values = valuesOf(card, field, context);
    for (const [id, name] of values) add(card, id, name);
    if (values.length === 0) add(card, '', context.noValue(field));
  }
  const order = fixedOrder(field, context);
  const position = ({ id }: StoryGroup): number =>
    id === '' ? Number.POSITIVE_INFINITY : order === undefined ? 0 : order.indexOf(id);
  return [...groups.values()].toSorted((one, other) => {
    const [left, right] = [position(one), position(other)];
    if (left !== right) return left - right;
    return field === 'wave' ? compareText(one.id, other.id) : one.name.localeCompare(other.name);
  });
}

export type StoryItem =
  | { readonly type: 'group'; readonly key: string; readonly group: StoryGroup }
  | {
      readonly type: 'story';
      /** Unique in the list; a story with several labels has several rows. */
      readonly key: string;
      readonly card: StoryCard;
      readonly position: number;
      readonly groupSize: number;
    };

/** Lists the headings and stories of the groups, without the stories of collapsed groups. */
export function flattenGroups(
  groups: readonly StoryGroup[],
  field: GroupField,
  collapsedIds: ReadonlySet<string>,
): StoryItem[] {
  return groups.flatMap((group): StoryItem[] => {
    const stories = collapsedIds.has(group.id)
      ? []
      : group.cards.map((card, index): StoryItem => ({
          ...{ type: 'story', key: `${group.id} ${card.id}`, card },
          ...{ position: index + 1, groupSize: group.cards.length },
        }));
    return field === 'none' ? stories : [{ type: 'group', key: `group ${group.id}`, group }, ...stories];
  });
}
