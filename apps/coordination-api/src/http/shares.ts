/**
 * A call that waits, for events or for the gateway, holds no place among those being answered; so there is a share for
 * each token, one for its organization, and a sum for the process.
 */
import { type Identity } from '@muster/database';
import { type ReasonOf, tooMany, unavailable } from '@muster/registry';
import { createConcurrencyLimiter } from '@muster/http';

export interface Shares {
  /** Takes one; what it answers gives it back. Throws 429 where a share is used up, and 503 where the sum is. */
  enter(caller: Identity): () => void;
}

interface Most {
  readonly token: number;
  readonly organization: number;
  readonly all: number;
}

/** Calls that wait for events, in each process. An agent follows one execution or a few. */
export const waitingAtOnce: Most = {
  // guard: calls that one token lets wait
  token: 8,
  organization: 1_000,
  all: 5_000,
};
/** Calls of tools, while the gateway has them. */
export const forwardedAtOnce: Most = { token: 128, organization: 512, all: 1_024 };

const retrySeconds = 1;

/** Of a share that is used up, and of the sum. */
type SharedReason = Extract<ReasonOf<'rate_limited'>, ReasonOf<'unavailable'>>;

export function createShares(most: Most, what: string, reason: SharedReason): Shares {
  const limiter = createConcurrencyLimiter(most.all);
  return {
    enter: ({ tokenId, orgId }) => {
      const token = { key: `token ${tokenId}`, most: most.token };
      const admission = limiter.enter([token, { key: `organization ${orgId}`, most: most.organization }]);
      if ('leave' in admission) return admission.leave;
      if (admission.full === null) throw unavailable(reason, `Too many calls ${what} at once; try again.`);
      const whose = admission.full === token ? 'with this token' : 'of your organization';
      throw tooMany(reason, retrySeconds, `Too many calls ${whose} ${what} at once.`);
    },
  };
}
