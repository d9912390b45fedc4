/** The rate limit of mails to one address. The address may belong to a stranger who did not ask for mail. */
import { invitationDays } from './invitation-states.ts';

/**
 * The maximum number of mails to an address during the validity of an invitation: the first one and five
 * more.
 */
export const mostSends = 6;
const pauseMinutes = 10;

/** The mails that were sent to an address during the validity of an invitation. */
export interface Sends {
  readonly count: number;
  /** The time of the last mail; null if there was none. */
  readonly last: string | null;
}

const after = (time: string, minutes: number): string =>
  new Date(Date.parse(time) + minutes * 60_000).toISOString();

/** Answers the time from which another mail may be sent; null if it may be sent at the time `at`. */
export function nextSendAfter({ count, last }: Sends, at: string, again: boolean): string | null {
  if (last === null) return null;
  if (count >= mostSends) return after(last, invitationDays * 24 * 60);
  // The first mail may be repeated immediately, because it may be lost or in a spam folder.
  if (!again || count === 1) return null;
  const rested = after(last, pauseMinutes);
  return rested > at ? rested : null;
}
