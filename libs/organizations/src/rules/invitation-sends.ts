/** How often one address is written to: it may belong to a stranger, who asked for no mail. */
import { invitationDays } from './invitation-states.ts';

/** The first e-mail and five more, in the days of an invitation. */
export const mostSends = 6;
const pauseMinutes = 10;

/** What went to an address in the days of an invitation. */
export interface Sends {
  readonly count: number;
  /** Null where nothing did. */
  readonly last: string | null;
}

const after = (time: string, minutes: number): string =>
  new Date(Date.parse(time) + minutes * 60_000).toISOString();

/** From when on another one may go out; null: it may `at` once. */
export function nextSendAfter({ count, last }: Sends, at: string, again: boolean): string | null {
  if (last === null) return null;
  if (count >= mostSends) return after(last, invitationDays * 24 * 60);
  // The first may be asked for once more at once: it was lost, or went into a folder that no member reads.
  if (!again || count === 1) return null;
  const rested = after(last, pauseMinutes);
  return rested > at ? rested : null;
}
