/** What the inbox says, in English: loaded with it. */

export const b = {
  loading: 'Loading the inbox',
  empty: 'The inbox is empty',
  emptyWhy: 'You are told here when you are mentioned, assigned or asked, and when work of yours stalls.',
  needs: 'Needs you',
  known: 'Good to know',
  read: 'Done',
  done: 'Done',
  allDone: 'All done',
  notDone: 'This could not be marked as done',
  settings: 'Choose what you are told of',
};
