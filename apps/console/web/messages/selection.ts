/** English texts of the actions for selected stories, loaded with them. */
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
};
