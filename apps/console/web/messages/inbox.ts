/** English texts of the inbox, loaded with it. */

export const inboxTexts = {
  loading: 'Loading the inbox',
  empty: 'Your inbox is empty',
  emptyWhy: 'Mentions, assignments, review requests and your stalled work appear here.',
  needs: 'Action needed',
  known: 'For your information',
  read: 'Done',
  done: 'Done',
  older: 'Show older unread',
  allDone: 'Mark all as done',
  notDone: 'Could not mark this as done',
  notAllDone: 'Could not mark all as done',
  settings: 'Notification settings',
};
