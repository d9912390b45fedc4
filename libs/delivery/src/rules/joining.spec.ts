import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type LeaseWithHolder, isSameHolder } from './acquire.ts';
import { decideJoiningGroup } from './joining.ts';

const now = '2026-11-21T09:30:00.000Z';
const lease = (targetId: string, who: string, isLive: boolean): LeaseWithHolder => ({
  targetType: targetId === 'group' ? 'delivery_group' : 'story',
  targetId,
  holder: { memberId: who, agentId: null, runId: null },
  actor: { kind: 'member', memberId: who, agentId: null, name: who },
  expiresAt: isLive ? '2026-11-21T09:30:00.001Z' : now,
});

describe('joining a group', () => {
  it('is free where nobody works on the group', () => {
    const stories = [lease('one', 'ana', true), lease('two', 'ben', true)];
    expect(decideJoiningGroup({ now, group: null, storyLeases: stories })).toEqual({
      kind: 'join',
      freed: [],
    });
  });

  it('is refused where both are worked on by different holders', () => {
    const theirs = lease('two', 'ben', true);
    const stories = [lease('one', 'ana', true), theirs];
    expect(decideJoiningGroup({ now, group: lease('group', 'ana', true), storyLeases: stories })).toEqual({
      kind: 'refuse',
      by: theirs,
    });
  });

  it('tells runs of one holder apart', () => {
    const story = lease('one', 'ana', true);
    const inRun = { ...story, holder: { ...story.holder, runId: 'r1' } };
    const decision = decideJoiningGroup({ now, group: lease('group', 'ana', true), storyLeases: [inRun] });
    expect(decision.kind).toBe('refuse');
  });

  const isLive = (held: LeaseWithHolder): boolean => held.expiresAt > now;
  it('never leaves two holders, and never ends a live lease', () => {
    const who = fc.constantFrom('ana', 'ben', 'chloe');
    const some = fc.array(fc.tuple(who, fc.boolean()), { maxLength: 6 });
    fc.assert(
      fc.property(fc.option(fc.tuple(who, fc.boolean())), some, (ofGroup, ofStories) => {
        const group = ofGroup === null ? null : lease('group', ...ofGroup);
        const stories = ofStories.map((of, index) => lease(`story ${index}`, ...of));
        const decision = decideJoiningGroup({ now, group, storyLeases: stories });
        if (decision.kind === 'refuse') {
          expect(group !== null && isLive(group) && isLive(decision.by)).toBe(true);
          return;
        }
        expect(decision.freed.filter(isLive)).toEqual([]);
        if (group === null || decision.freed.includes(group)) return;
        const left = stories.filter((story) => !decision.freed.includes(story));
        expect(left.every(({ holder }) => isSameHolder(holder, group.holder))).toBe(true);
      }),
    );
  });
});
