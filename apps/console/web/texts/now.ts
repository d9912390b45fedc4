/** English texts of the page Now, loaded with it. */

export const nowTexts = {
  loading: 'Loading what waits for you',
  empty: 'Nothing waits for you',
  emptyWhy: 'Questions, reviews, offers and work that stalled come here, each with what can be done.',
  questions: 'Waits for an answer',
  asks: 'a question is open',
  answer: 'Answer',
  told: 'Said to you',
  offers: 'Offered to you',
  reviews: 'For you to review',
  asked: (when: string) => `asked ${when}`,
  review: 'Review',
  stalled: 'Stalled',
  expired: 'the lease is over and was not renewed',
  rework: 'Needs rework',
  look: 'Look',
};
