/** English texts of the keyboard shortcuts, loaded when they are opened. */

export const helpTexts = {
  title: 'Keyboard shortcuts',
  single: 'Single-key shortcuts',
  keys: [
    ['mod k', 'Go to a page, board or story'],
    ['mod z', 'Undo your last change (within 30 seconds)'],
    ['?', 'Show keyboard shortcuts'],
    ['g n', 'My work'],
    ['g i', 'Inbox'],
    ['g w', 'Agents at work'],
    ['g a', 'Activity'],
    ['g s', 'Settings'],
    ['g b', 'Board (g e for epics and groups, g h for health)'],
    ['h j k l', 'Move around the board, like the arrow keys'],
    ['Enter', 'Open the story'],
    ['m', 'Move the card: arrows to move, Space to drop, Esc to cancel'],
    ['x', 'Select the story; Esc clears the selection'],
    ['s a p r', 'On a card or a story: status, assignee, priority, reviewers'],
    ['c', 'Create a story'],
    ['/', 'Filter'],
    ['e', 'On a story: edit the title; in the inbox: mark as done (s snoozes)'],
  ] as readonly (readonly [string, string])[],
};
