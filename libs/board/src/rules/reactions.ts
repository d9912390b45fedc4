/** Applies a reaction to a comment's list of reactions. */
import { type Comment } from '@muster/contract';

type Reaction = Comment['reactions'][number];

/** Compares two reactions by the code points of their emojis, as the database does. */
const compareByEmoji = (one: Reaction, other: Reaction): number =>
  Buffer.compare(Buffer.from(one.emoji), Buffer.from(other.emoji));

/** Adds or removes the viewer's reaction. Returns the same list if nothing changes. */
export function applyReaction(reactions: Reaction[], emoji: string, shouldBePresent: boolean): Reaction[] {
  const present = reactions.find((reaction) => reaction.emoji === emoji);
  if ((present?.mine ?? false) === shouldBePresent) return reactions;
  const count = (present?.count ?? 0) + (shouldBePresent ? 1 : -1);
  const others = reactions.filter((reaction) => reaction !== present);
  return count === 0 ? others : [...others, { emoji, count, mine: shouldBePresent }].sort(compareByEmoji);
}
