/**
 * Reviews in answers of the API of Gitea and Forgejo. Their webhooks do not say whether the reviewer has
 * write access.
 */
import { type ForgeKind } from '@muster/contract';
import { z } from 'zod';
import { type CheckDelivery } from './asked-checks.ts';
import { polledReviewEvent, reviewKindByState } from './gitea.ts';

/** Returns true for forges whose deliveries do not say which reviews count. */
export const omitsReviewerAccess = (kind: ForgeKind): boolean => kind === 'gitea' || kind === 'forgejo';

export const reviewsPath = (number: number): string => `/pulls/${number}/reviews?limit=50`;

const ReviewsAnswer = z.array(
  z.looseObject({
    id: z.int(),
    state: z.string(),
    official: z.boolean().nullish(),
    dismissed: z.boolean().nullish(),
  }),
);

/** A delivery of a review. `identifyingValues` has the values that distinguish it from other deliveries. */
export interface ReviewDelivery extends CheckDelivery {
  readonly identifyingValues: readonly unknown[];
}

/**
 * Returns the official reviews that contain a verdict. `pullPayload` is the pull request as it would be
 * delivered.
 */
export const toReviewDeliveries = (answer: unknown, pullPayload: object): ReviewDelivery[] =>
  ReviewsAnswer.parse(answer)
    .filter(({ official, state }) => official === true && reviewKindByState[state] !== undefined)
    .map((review) => ({
      event: polledReviewEvent,
      payload: { ...pullPayload, action: 'reviewed', review },
      identifyingValues: [review.id, review.state, review.dismissed === true],
    }));
