/** Calls that wait for something to happen: as many at once as leave room for the calls of other callers. */
import { type ApiError, tooMany } from '@muster/registry';
import { createConcurrencyLimiter, type ConcurrencyLimiter } from '@muster/http';

/** Who waits. */
export interface Waiter {
  /** As a digest. */
  readonly token: string;
  /** An operator's token stands outside of organizations. */
  readonly orgId: string | null;
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

  constructor(mostInAll: number) {
    this.#limiter = createConcurrencyLimiter(mostInAll);
    this.#ofOrganization = Math.ceil(mostInAll / 2);
  }

  /** Takes a place, and answers how it is given back. Throws 429 where there is none. */
  take({ token, orgId }: Waiter): () => void {
    const own = { key: `token ${token}`, most: mostWaitingOfToken };
    const organization = { key: `organization ${orgId ?? ''}`, most: this.#ofOrganization };
    const admission = this.#limiter.enter([own, organization]);
    if ('leave' in admission) return admission.leave;
    if (admission.full === null) throw tooManyWait('of everybody');
    throw tooManyWait(admission.full === own ? 'of this token' : 'of this organization');
  }
}
