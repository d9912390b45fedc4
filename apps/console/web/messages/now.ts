/** English texts of the page Now, loaded with it. */

export const nowTexts = {
  loading: 'Loading your work',
  empty: 'You’re all caught up',
  emptyWhy: 'Questions, reviews, offers and stalled work that need you appear here.',
  firstProject: 'Create a project to get started. Then invite people and connect agents.',
  noProject: 'You’re not in a project yet. Ask an admin to add you to one.',
  questions: 'Waiting for an answer',
  asks: 'open question',
  answer: 'Answer',
  told: 'Mentions',
  offers: 'Offered to you',
  reviews: 'Review requests',
  asked: (when: string) => `requested ${when}`,
  review: 'Review',
  stalled: 'Stalled',
  expired: 'lease expired',
  rework: 'Needs rework',
  look: 'Open',
};
