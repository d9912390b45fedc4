/**
 * Reviews in answers of the API of Gitea and Forgejo. Their webhooks do not say whether the reviewer has
 * write access.
 */
import { type ForgeKind } from '@muster/registry';
import { z } from 'zod';
import { type CheckDelivery } from './asked-checks.ts';
import { askedReview, reviewKinds } from './gitea.ts';

/** Returns true for forges whose deliveries do not say which reviews count. */
export const hidesReviewers = (kind: ForgeKind): boolean => kind === 'gitea' || kind === 'forgejo';

export const reviewsPath = (number: number): string => `/pulls/${number}/reviews?limit=50`;

const Reviews = z.array(
  z.looseObject({
    id: z.int(),
    state: z.string(),
    official: z.boolean().nullish(),
    dismissed: z.boolean().nullish(),
  }),
);

/** A delivery of a review. `says` has the values that distinguish it from other deliveries. */
export interface ReviewDelivery extends CheckDelivery {
  readonly says: readonly unknown[];
}

/**
 * Returns the official reviews that contain a verdict. `pullPayload` is the pull request as it would be
 * delivered.
 */
export const reviewsAsDelivered = (answer: unknown, pullPayload: object): ReviewDelivery[] =>
  Reviews.parse(answer)
    .filter(({ official, state }) => official === true && reviewKinds[state] !== undefined)
    .map((review) => ({
      event: askedReview,
      payload: { ...pullPayload, action: 'reviewed', review },
      says: [review.id, review.state, review.dismissed === true],
    }));
