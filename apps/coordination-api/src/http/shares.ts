/**
 * Limits calls that wait for events or for the gateway. A waiting call occupies no request slot, so waiting
 * calls have limits of their own. There is a limit per token, per member with all tokens and agents, per
 * organization, and for the process.
 */
import { type ReasonOf, tooManyRequests, serviceUnavailable } from '@muster/contract';
import { createConcurrencyLimiter } from '@muster/http';
import { type TokenIdentity } from '@muster/tenancy';

export interface WaitingCallLimiter {
  /**
   * Reserves capacity for one waiting call and returns the function that releases it. Throws 429 at a
   * caller's limit, and 503 at the limit of the process.
   */
  enter(caller: TokenIdentity): () => void;
}

interface ShareLimits {
  /** The limit of a token, or of a member with all its tokens. */
  readonly maxPerOwner: number;
  readonly maxPerOrganization: number;
  readonly maxTotal: number;
}

/** Limits of calls that wait for events, in each process. An agent follows one or a few executions. */
export const eventWaitLimits: ShareLimits = {
  // guard: calls that one token lets wait
  maxPerOwner: 8,
  maxPerOrganization: 1_000,
  maxTotal: 5_000,
};
/** Limits of tool calls that the gateway is processing. */
export const forwardedCallLimits: ShareLimits = {
  maxPerOwner: 128,
  maxPerOrganization: 512,
  maxTotal: 1_024,
};
/**
 * Limits of calls that wait for their turn at a record. Many agents of one member may request work at the
 * same time.
 */
export const queuedCallLimits: ShareLimits = { maxPerOwner: 128, maxPerOrganization: 512, maxTotal: 1_024 };
/** Limits of event streams per member. A browser has six connections per host, and its tabs share a stream. */
export const eventStreamLimits: ShareLimits = { maxPerOwner: 4, maxPerOrganization: 1_000, maxTotal: 5_000 };

const retrySeconds = 1;

/** A reason that exists for 429 as well as for 503. */
type SharedReason = Extract<ReasonOf<'rate_limited'>, ReasonOf<'unavailable'>>;

/** Returns the owner of a limit, and its description in error messages. */
type OwnerOf = (caller: TokenIdentity) => { readonly key: string; readonly said: string };

const ownerByToken: OwnerOf = ({ tokenId }) => ({ key: `token ${tokenId}`, said: 'with this token' });
export const ownerByMember: OwnerOf = ({ memberId }) => ({ key: `member ${memberId}`, said: 'of yours' });

export function createWaitingCallLimiter(
  limits: ShareLimits,
  activity: string,
  reason: SharedReason,
  ownerOf: OwnerOf = ownerByToken,
): WaitingCallLimiter {
  const limiter = createConcurrencyLimiter(limits.maxTotal);
  return {
    enter: (caller) => {
      const parties = [
        { ...ownerOf(caller), most: limits.maxPerOwner },
        { key: `all of ${caller.memberId}`, said: 'of yours', most: limits.maxPerOrganization / 2 },
        {
          ...{ key: `organization ${caller.orgId}`, said: 'of your organization' },
          most: limits.maxPerOrganization,
        },
      ];
      const admission = limiter.acquire(parties);
      if ('leave' in admission) return admission.leave;
      if (admission.full === null)
        throw serviceUnavailable(reason, `Too many calls ${activity} at the same time; try again.`);
      const whose = parties.find((party) => party === admission.full)?.said ?? '';
      throw tooManyRequests(reason, retrySeconds, `Too many calls ${whose} ${activity} at the same time.`);
    },
  };
}
