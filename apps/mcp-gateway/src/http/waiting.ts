/** Limits concurrent long polls, so that they leave capacity for the calls of other callers. */
import { type ApiError, tooManyRequests } from '@muster/contract';
import { createConcurrencyLimiter, type ConcurrencyLimiter } from '@muster/http';

/** The caller of a long poll. */
export interface LongPollCaller {
  /** SHA-256 digest of the token. */
  readonly token: string;
  /** The caller's organization and member; null for an operator's token, which belongs to no organization. */
  readonly ids: { readonly orgId: string; readonly memberId: string } | null;
}

export const maxLongPollsPerToken = 8;
const retryAfterSeconds = 5;

const tooManyLongPolls = (whose: string): ApiError =>
  tooManyRequests(
    'too_many_waiting',
    retryAfterSeconds,
    `Too many calls ${whose} are waiting at the same time.`,
  );

/** Returns true if the parameters request a long poll. */
export const isLongPoll = (params: unknown): boolean =>
  typeof params === 'object' &&
  params !== null &&
  'waitSeconds' in params &&
  typeof params.waitSeconds === 'number' &&
  params.waitSeconds > 0;

export class LongPollLimiter {
  readonly #limiter: ConcurrencyLimiter;
  readonly #ofOrganization: number;
  /** Limit over all tokens of a member, who can create many. */
  readonly #ofMember: number;

  constructor(maxLongPolls: number) {
    this.#limiter = createConcurrencyLimiter(maxLongPolls);
    this.#ofOrganization = Math.ceil(maxLongPolls / 2);
    this.#ofMember = Math.max(maxLongPollsPerToken, Math.ceil(maxLongPolls / 4));
  }

  /**
   * Reserves a slot for a long poll, and returns the function that releases the slot. Throws 429 if a limit
   * is reached.
   */
  take({ token, ids }: LongPollCaller): () => void {
    const own = { key: `token ${token}`, most: maxLongPollsPerToken };
    const member = { key: `member ${ids?.memberId ?? token}`, most: this.#ofMember };
    const organization = { key: `organization ${ids?.orgId ?? ''}`, most: this.#ofOrganization };
    const admission = this.#limiter.acquire([own, member, organization]);
    if ('leave' in admission) return admission.leave;
    if (admission.full === null) throw tooManyLongPolls('of all organizations');
    if (admission.full === own) throw tooManyLongPolls('of this token');
    throw tooManyLongPolls(admission.full === member ? 'of this member' : 'of this organization');
  }
}
