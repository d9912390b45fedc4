/** Calls that wait for something to happen: as many at once as leave room for the calls of other callers. */
import { type ApiError, tooMany } from '@muster/registry';
import { createConcurrencyLimiter, type ConcurrencyLimiter } from '@muster/http';

/** Who waits. */
export interface Waiter {
  /** As a digest. */
  readonly token: string;
  /** Null: an operator's token, which stands outside of organizations. */
  readonly ids: { readonly orgId: string; readonly memberId: string } | null;
}

export const mostWaitingOfToken = 8;
const comeAgainSeconds = 5;

const tooManyWait = (whose: string): ApiError =>
  tooMany('too_many_waiting', comeAgainSeconds, `Too many calls ${whose} wait at once.`);

/** Whether the parameters ask for an answer that may take its time. */
export const asksToWait = (params: unknown): boolean =>
  typeof params === 'object' &&
  params !== null &&
  'waitSeconds' in params &&
  typeof params.waitSeconds === 'number' &&
  params.waitSeconds > 0;

export class Waiting {
  readonly #limiter: ConcurrencyLimiter;
  readonly #ofOrganization: number;
  /** With all tokens, of which a member can make many. */
  readonly #ofMember: number;

  constructor(mostInAll: number) {
    this.#limiter = createConcurrencyLimiter(mostInAll);
    this.#ofOrganization = Math.ceil(mostInAll / 2);
    this.#ofMember = Math.max(mostWaitingOfToken, Math.ceil(mostInAll / 4));
  }

  /** Takes a place, and answers how it is given back. Throws 429 where there is none. */
  take({ token, ids }: Waiter): () => void {
    const own = { key: `token ${token}`, most: mostWaitingOfToken };
    const member = { key: `member ${ids?.memberId ?? token}`, most: this.#ofMember };
    const organization = { key: `organization ${ids?.orgId ?? ''}`, most: this.#ofOrganization };
    const admission = this.#limiter.enter([own, member, organization]);
    if ('leave' in admission) return admission.leave;
    if (admission.full === null) throw tooManyWait('of everybody');
    if (admission.full === own) throw tooManyWait('of this token');
    throw tooManyWait(admission.full === member ? 'of this member' : 'of this organization');
  }
}
