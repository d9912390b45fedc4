import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PersonOf, useWorld } from '@muster/testing';
import { syncAllPoints, done, writeActivity } from '../../../test/activity.ts';
import { gamification } from './handlers.ts';

const world = useWorld({ gamification });

describe('a profile', () => {
  it('is empty at first, at level 1, and of oneself where nobody is named', async () => {
    const { ana, ben } = await world.org();
    const { profile } = await ana.gamification.profile();
    expect(profile).toMatchObject({
      member: { id: ana.me.memberId, name: 'Ana', handle: 'ana' },
      points: 0,
      level: 1,
      nextLevelAt: 50,
      streakDays: 0,
      rank: null,
      badges: [],
      syncedAt: null,
    });
    expect(await ben.gamification.profile({ memberId: ana.me.memberId })).toEqual({ profile });
  });

  it('has what was counted, by kind, with badges and level', async () => {
    const { orgId, ana } = await world.org();
    await writeActivity(world, orgId, ...Array.from({ length: 10 }, () => done(ana)), {
      kind: 'spec.updated',
      by: ana,
      data: { version: 1, linesAdded: 4, linesRemoved: 0 },
    });
    expect(await syncAllPoints(world, orgId)).toEqual({ counted: 11, hasMore: false });
    const { profile } = await ana.gamification.profile();
    expect(profile).toMatchObject({
      points: 103,
      level: 2,
      nextLevelAt: 150,
      streakDays: 1,
      rank: 1,
      byKind: { story_done: 100, spec_written: 3, review_given: 0 },
      syncedAt: expect.stringMatching(/Z$/),
    });
    expect(profile.badges.map(({ slug }) => slug)).toEqual(['first-story', 'finisher']);
  });

  it('shares a rank among those who have as many points, and passes over the next', async () => {
    const { orgId, ana, ben, chloe, dan } = await world.org();
    await writeActivity(world, orgId, done(ana), done(ana), done(ben), done(ben), done(chloe));
    await syncAllPoints(world, orgId);
    const ranks = await Promise.all(
      [ana, ben, chloe, dan].map(async (who) => (await who.gamification.profile()).profile.rank),
    );
    expect(ranks).toEqual([1, 1, 3, null]);
  });

  it('counts days on end up to today or yesterday', async () => {
    const { orgId, ana, ben, chloe } = await world.org();
    const on = (who: PersonOf<typeof world>, days: readonly number[]) =>
      days.map((ago) => done(who, newId(), { at: `now() - interval '${ago} days'` }));
    await writeActivity(
      world,
      orgId,
      ...on(ana, [5, 3, 2, 1, 0]),
      ...on(ben, [2, 1]),
      ...on(chloe, [4, 3, 2]),
    );
    await syncAllPoints(world, orgId);
    const streaks = [ana, ben, chloe].map(
      async (who) => (await who.gamification.profile()).profile.streakDays,
    );
    expect(await Promise.all(streaks)).toEqual([4, 2, 0]);
  });

  it('of nobody, of a removed member and of another organization is not found', async () => {
    const { orgId, ana, dan } = await world.org();
    const others = await world.org();
    await world.rows(
      `update members set status = 'removed' where org_id = $1 and id = $2`,
      orgId,
      dan.me.memberId,
    );
    for (const memberId of [newId(), dan.me.memberId, others.ana.me.memberId])
      await expect(ana.gamification.profile({ memberId })).rejects.toMatchObject({ status: 404 });
  });
});
