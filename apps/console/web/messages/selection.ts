/** English texts of the actions for selected stories, loaded with them. */
import { pluralize } from './en.ts';

export const selectionTexts = {
  assignee: 'Assignee…',
  agent: 'Agent…',
  noAgent: 'No agent',
  epic: 'Epic…',
  noEpic: 'No epic',
  addLabel: 'Add label…',
  removeLabel: 'Remove label…',
  dueDate: 'Due date',
  setDue: 'Set due date',
  clearDue: 'Clear due date',
  delete: 'Delete',
  deleted: (count: number) => `${pluralize(count, 'story was', 'stories were')} deleted`,
  notDeleted: (keys: string) => `Not deleted: ${keys}`,
  stories: (count: number) => pluralize(count, 'story', 'stories'),
  notUndone: (count: number) =>
    `Someone else has changed ${pluralize(count, 'story', 'stories')} since. ${count === 1 ? 'It was' : 'They were'} left unchanged.`,
  undoRefused: (keys: readonly string[], reason: string) =>
    `Could not restore ${pluralize(keys.length, 'story', 'stories')} (${keys.join(', ')}): ${reason}`,
};
