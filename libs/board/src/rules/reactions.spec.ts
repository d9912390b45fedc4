import { describe, expect, it } from '@jest/globals';
import { applyReaction } from './reactions.ts';

const thumbs = { emoji: '👍', count: 2, mine: true };
const heart = { emoji: '❤️', count: 1, mine: false };

describe('withReaction', () => {
  it('changes nothing where it already is so', () => {
    const reactions = [heart, thumbs];
    expect(applyReaction(reactions, '👍', true)).toBe(reactions);
    expect(applyReaction(reactions, '❤️', false)).toBe(reactions);
    expect(applyReaction(reactions, '🎉', false)).toBe(reactions);
  });

  it('counts one more, one less, and forgets what nobody gives any more', () => {
    expect(applyReaction([heart], '❤️', true)).toEqual([{ emoji: '❤️', count: 2, mine: true }]);
    expect(applyReaction([thumbs], '👍', false)).toEqual([{ emoji: '👍', count: 1, mine: false }]);
    expect(applyReaction([{ emoji: '🎉', count: 1, mine: true }], '🎉', false)).toEqual([]);
  });

  it('keeps the order of the database, by code points and not by UTF-16', () => {
    // U+FE0F sorts after a surrogate in code-unit order, but before the skin tone in code-point order.
    const toned = { emoji: '✌🏽', count: 1, mine: false };
    expect(applyReaction([toned], '✌️', true).map((reaction) => reaction.emoji)).toEqual(['✌️', '✌🏽']);
  });
});
