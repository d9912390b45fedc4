/** The reactions to a comment after one more was given or taken back. */
import { type Comment } from '@muster/registry';

type Reaction = Comment['reactions'][number];

/** As the database orders them: by code points. */
const byEmoji = (one: Reaction, other: Reaction): number =>
  Buffer.compare(Buffer.from(one.emoji), Buffer.from(other.emoji));

/** With the viewer's reaction, or without it; the same list where it already is so. */
export function withReaction(reactions: Reaction[], emoji: string, on: boolean): Reaction[] {
  const present = reactions.find((reaction) => reaction.emoji === emoji);
  if ((present?.mine ?? false) === on) return reactions;
  const count = (present?.count ?? 0) + (on ? 1 : -1);
  const others = reactions.filter((reaction) => reaction !== present);
  return count === 0 ? others : [...others, { emoji, count, mine: on }].sort(byEmoji);
}
