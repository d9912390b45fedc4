/** English texts of the inbox, loaded with it. */

export const b = {
  loading: 'Loading the inbox',
  empty: 'Your inbox is empty',
  emptyWhy: 'Mentions, assignments, review requests and stalled work of yours appear here.',
  needs: 'Needs you',
  known: 'For your information',
  read: 'Done',
  done: 'Done',
  allDone: 'Mark all as done',
  notDone: 'This could not be marked as done',
  settings: 'Notification settings',
};
