/** The rate limit of mails to one address. The address may belong to a stranger who did not ask for mail. */
import { invitationValidityDays } from './invitation-states.ts';

/**
 * The maximum number of mails to an address during the validity of an invitation: the first one and five
 * more.
 */
export const maxMailsPerAddress = 6;
const minMinutesBetweenMails = 10;

/** The mails that were sent to an address during the validity of an invitation. */
export interface SentMails {
  readonly count: number;
  /** The time of the last mail; null if there was none. */
  readonly last: string | null;
}

const addMinutes = (time: string, minutes: number): string =>
  new Date(Date.parse(time) + minutes * 60_000).toISOString();

/** Returns the time from which another mail may be sent; null if it may be sent at the time `at`. */
export function findNextSendTime({ count, last }: SentMails, now: string, isResend: boolean): string | null {
  if (last === null) return null;
  if (count >= maxMailsPerAddress) return addMinutes(last, invitationValidityDays * 24 * 60);
  // The first mail may be repeated immediately, because it may be lost or in a spam folder.
  if (!isResend || count === 1) return null;
  const rested = addMinutes(last, minMinutesBetweenMails);
  return rested > now ? rested : null;
}
