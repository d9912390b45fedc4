import { type Reaction } from '@muster/runtime';
import { tellAll } from './data/tellings.ts';
import { tellingsOf } from './rules/tellings.ts';

/** The reaction that tells members, by their inboxes: goes out with COMMIT, so it costs no round trip. */
export const notify: Reaction = ({ db, actor, happenings }) => {
  const events = happenings
    .map((happening) => tellingsOf(happening, actor))
    .filter((tellings) => tellings.length > 0);
  if (events.length > 0) db.later(tellAll(actor, events));
  return Promise.resolve();
};
