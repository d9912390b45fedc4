/** The change of a story that moves it to another group. */
import { type StoryCard } from '@muster/registry';
import {
  type BulkChange,
  createFieldChange,
  createPriorityChange,
  createStatusChange,
} from '../board/each.ts';
import { type Grouping } from '../board/filter.ts';
import { t } from '../messages/index.ts';
import { type StoryGroup } from './grouping.ts';

/** Returns the change; undefined if stories cannot be moved between groups of this field. */
export function createGroupChange(
  grouping: Grouping,
  { id, name }: Pick<StoryGroup, 'id' | 'name'>,
): BulkChange | undefined {
  const value = id === '' ? null : id;
  const nameOf = (other: string | null): string =>
    other === value ? name : other === null ? t.people.none : t.people.another;
  switch (grouping) {
    case 'status':
      return createStatusChange(id as StoryCard['status']);
    case 'priority':
      return createPriorityChange(id as StoryCard['priority']);
    case 'epic':
      return createFieldChange({ epicId: value }, ({ epicId }) => epicId, nameOf);
    case 'assignee':
      return createFieldChange(
        { assigneeId: value },
        ({ assignees }) => assignees.member?.id ?? null,
        nameOf,
      );
    case 'agent':
      return createFieldChange({ agentId: value }, ({ assignees }) => assignees.agent?.id ?? null, nameOf);
    default:
      return undefined;
  }
}
