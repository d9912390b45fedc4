/** Which keys do what, in English: loaded when it is asked for. */

export const help = {
  title: 'Keyboard shortcuts',
  single: 'Keys without Ctrl or ⌘',
  keys: [
    ['mod k', 'Go to a page, a board or a story'],
    ['?', 'These shortcuts'],
    ['g n', 'Now'],
    ['g i', 'Inbox'],
    ['g w', 'Agents at work'],
    ['g a', 'Activity'],
    ['g s', 'Settings'],
    ['g b', 'The board; g e its epics and groups, g h its health'],
    ['h j k l', 'Walk the board, as the arrows do'],
    ['Enter', 'Open the story'],
    ['m', 'Move the card: arrows choose, Space drops, Esc returns'],
    ['x', 'Select the card; Esc selects none'],
    ['s a p r', 'On a card or a story: status, assignee, priority, reviewers'],
    ['c', 'Add a story'],
    ['/', 'Filter'],
    ['e', 'On a story: change its title; in the inbox: done'],
  ] as readonly (readonly [string, string])[],
};
