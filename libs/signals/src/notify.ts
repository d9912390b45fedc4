import { type Db, type Happening } from '@muster/database';
import { type Actor } from '@muster/registry';
import { type Reaction } from '@muster/runtime';
import { tellAll } from './data/tellings.ts';
import { tellingsOf } from './rules/tellings.ts';

/** Tells members of what somebody did, in the transaction in which it happens and before its trail. */
export function tellOf(db: Db, orgId: string, actor: Actor, happenings: readonly Happening[]): void {
  const events = happenings
    .map((happening) => tellingsOf(happening, actor))
    .filter((tellings) => tellings.length > 0);
  if (events.length > 0) db.later(tellAll(orgId, actor, events));
}

/** The reaction that writes the inboxes: goes out with COMMIT, so it costs no round trip. */
export const notify: Reaction = ({ db, caller, happenings }) => {
  tellOf(db, caller.orgId, caller.actor, happenings);
  return Promise.resolve();
};
