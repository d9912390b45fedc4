/**
 * A call that waits, for events or for the gateway, holds no place among those being answered; so there is a share for
 * each token, one for its member with all tokens and agents, one for its organization, and a sum for the process.
 */
import { type ReasonOf, tooMany, unavailable } from '@muster/registry';
import { createConcurrencyLimiter } from '@muster/http';
import { type Identity } from '@muster/tenancy';

export interface Shares {
  /** Takes one; what it answers gives it back. Throws 429 where a share is used up, and 503 where the sum is. */
  enter(caller: Identity): () => void;
}

interface Most {
  /** Of a token; of a member with all its tokens. */
  readonly each: number;
  readonly organization: number;
  readonly all: number;
}

/** Calls that wait for events, in each process. An agent follows one execution or a few. */
export const waitingAtOnce: Most = {
  // guard: calls that one token lets wait
  each: 8,
  organization: 1_000,
  all: 5_000,
};
/** Calls of tools, while the gateway has them. */
export const forwardedAtOnce: Most = { each: 128, organization: 512, all: 1_024 };
/** Calls that wait for their turn at one record. Many agents of one member may ask for work at once. */
export const inLineAtOnce: Most = { each: 128, organization: 512, all: 1_024 };
/** Streams of events, of a member. A browser has six connections; its tabs share one of them. */
export const streamsAtOnce: Most = { each: 4, organization: 1_000, all: 5_000 };

const retrySeconds = 1;

/** Of a share that is used up, and of the sum. */
type SharedReason = Extract<ReasonOf<'rate_limited'>, ReasonOf<'unavailable'>>;

/** Whose share it is, and how that is said. */
type OwnerOf = (caller: Identity) => { readonly key: string; readonly said: string };

const byToken: OwnerOf = ({ tokenId }) => ({ key: `token ${tokenId}`, said: 'with this token' });
export const byMember: OwnerOf = ({ memberId }) => ({ key: `member ${memberId}`, said: 'of yours' });

export function createShares(
  most: Most,
  what: string,
  reason: SharedReason,
  ownerOf: OwnerOf = byToken,
): Shares {
  const limiter = createConcurrencyLimiter(most.all);
  return {
    enter: (caller) => {
      const parties = [
        { ...ownerOf(caller), most: most.each },
        { key: `all of ${caller.memberId}`, said: 'of yours', most: most.organization / 2 },
        {
          ...{ key: `organization ${caller.orgId}`, said: 'of your organization' },
          most: most.organization,
        },
      ];
      const admission = limiter.enter(parties);
      if ('leave' in admission) return admission.leave;
      if (admission.full === null) throw unavailable(reason, `Too many calls ${what} at once; try again.`);
      const whose = parties.find((party) => party === admission.full)?.said ?? '';
      throw tooMany(reason, retrySeconds, `Too many calls ${whose} ${what} at once.`);
    },
  };
}
