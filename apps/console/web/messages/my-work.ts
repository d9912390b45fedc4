/** English texts of the page My work, loaded with it. */
export const myWorkTexts = {
  loading: 'Loading your work',
  empty: 'You’re all caught up',
  emptyWhy: 'Stories assigned to you, and questions, reviews and offers that need you appear here.',
  firstProject: 'Create a project to get started. Then invite people and connect agents.',
  noProject: 'You’re not in a project yet. Ask an admin to add you to one.',
  waiting: 'Waiting for you',
  asks: 'open question',
  answer: 'Answer',
  asked: (when: string) => `review requested ${when}`,
  review: 'Review',
  assigned: 'Assigned to you',
  showAll: 'Show all',
  groups: {
    overdue: 'Overdue',
    dueSoon: 'Due within 7 days',
    active: 'In progress',
    next: 'Up next',
  },
  attention: 'Needs attention',
  expired: 'stalled: lease expired',
  look: 'Open',
};
