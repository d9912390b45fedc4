/** The change of a story that moves it to another group. */
import { type StoryCard } from '@muster/contract';
import {
  type BulkChange,
  createAssigneeChange,
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
      return createFieldChange('epicId', value, nameOf);
    case 'assignee':
      return createAssigneeChange('member', value, nameOf);
    case 'agent':
      return createAssigneeChange('agent', value, nameOf);
    default:
      return undefined;
  }
}
