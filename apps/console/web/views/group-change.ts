/** The change of a story that moves it to another group. */
import { type StoryCard } from '@muster/registry';
import { type BulkChange, createPriorityChange, createStatusChange } from '../board/each.ts';
import { type Grouping } from '../board/filter.ts';
import { t } from '../messages/index.ts';
import { type StoryGroup } from './grouping.ts';

/** Returns the change; undefined if stories cannot be moved between groups of this field. */
export function createGroupChange(
  grouping: Grouping,
  { id, name }: Pick<StoryGroup, 'id' | 'name'>,
): BulkChange | undefined {
  const value = id === '' ? null : id;
  const create = (
    set: BulkChange['set'],
    read: (card: StoryCard) => string | null,
    currentValueOf: (card: StoryCard) => string,
  ): BulkChange => ({
    ...{ set, currentValueOf, newValue: name },
    isUntouched: (known, theirs) => read(theirs) === read(known) || read(theirs) === value,
  });
  switch (grouping) {
    case 'status':
      return createStatusChange(id as StoryCard['status']);
    case 'priority':
      return createPriorityChange(id as StoryCard['priority']);
    case 'epic':
      return create(
        { epicId: value },
        ({ epicId }) => epicId,
        ({ epicId }) => (epicId === null ? t.people.none : '…'),
      );
    case 'assignee':
      return create(
        { assigneeId: value },
        ({ assignees }) => assignees.member?.id ?? null,
        ({ assignees }) => assignees.member?.name ?? t.people.unassigned,
      );
    case 'agent':
      return create(
        { agentId: value },
        ({ assignees }) => assignees.agent?.id ?? null,
        ({ assignees }) => assignees.agent?.name ?? t.people.none,
      );
    default:
      return undefined;
  }
}
