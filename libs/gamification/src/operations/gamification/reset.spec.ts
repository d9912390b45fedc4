import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, useWorld } from '@muster/testing';
import { syncAllPoints, done, writeActivity, getPoints, reopenedActivity } from '../../../test/activity.ts';
import { gamification } from './handlers.ts';

const world = useWorld({ gamification });

describe('a reset', () => {
  const counted = async (): Promise<PeopleOf<typeof world>> => {
    const people = await world.org();
    const { orgId, ana, ben } = people;
    await writeActivity(
      world,
      orgId,
      done(ana),
      done(ana, newId(), { at: `now() - interval '1 day'` }),
      done(ben),
    );
    await syncAllPoints(world, orgId);
    return people;
  };

  it('takes everybody to nothing, and says so in the activity', async () => {
    const { orgId, ana, ben } = await counted();
    expect(await ben.gamification.reset({ confirm: true })).toEqual({ reset: 2 });
    expect(await Promise.all([ana, ben].map(getPoints))).toEqual([0, 0]);
    expect((await ana.gamification.profile()).profile).toMatchObject({
      streakDays: 0,
      rank: null,
      badges: [],
    });
    expect((await ana.gamification.leaderboard({ period: 'week' })).items).toEqual([]);
    expect(
      await world.rows(
        `select subject ->> 'id' as id, data from activity where org_id = $1 and kind = 'points.cleared'`,
        orgId,
      ),
    ).toEqual([{ id: orgId, data: { memberId: null } }]);
    expect(await ben.gamification.reset({ confirm: true })).toEqual({ reset: 0 });
  });

  it('of one member leaves the others theirs', async () => {
    const { ana, ben } = await counted();
    expect(await ben.gamification.reset({ memberId: ana.me.memberId, confirm: true })).toEqual({ reset: 1 });
    expect(await Promise.all([ana, ben].map(getPoints))).toEqual([0, 10]);
  });

  it('holds for what was not counted yet, and not for what comes after', async () => {
    const { orgId, ana, ben } = await counted();
    await writeActivity(world, orgId, done(ana));
    await ben.gamification.reset({ confirm: true });
    await syncAllPoints(world, orgId);
    expect(await getPoints(ana)).toBe(0);
    const storyId = newId();
    await writeActivity(world, orgId, done(ana, storyId));
    await syncAllPoints(world, orgId);
    expect((await ana.gamification.profile()).profile).toMatchObject({ points: 10, streakDays: 1, rank: 1 });
    await writeActivity(world, orgId, reopenedActivity(ana, storyId));
    await syncAllPoints(world, orgId);
    expect(await getPoints(ana)).toBe(0);
  });

  it('leaves nothing to be taken back of what was given before it', async () => {
    const { orgId, ana, ben } = await world.org();
    const storyId = newId();
    await writeActivity(world, orgId, done(ana, storyId));
    await syncAllPoints(world, orgId);
    await ben.gamification.reset({ confirm: true });
    await writeActivity(world, orgId, done(ana), reopenedActivity(ana, storyId), done(ana, storyId));
    await syncAllPoints(world, orgId);
    expect(await getPoints(ana)).toBe(20);
  });

  it('takes turns with a count, so that nothing of before comes in after it', async () => {
    const { orgId, ana, ben } = await counted();
    await writeActivity(world, orgId, done(ana), done(ben));
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'gamification_state', id: orgId, column: 'org_id' },
      () => syncAllPoints(world, orgId),
      () => ben.gamification.reset({ confirm: true }),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    await syncAllPoints(world, orgId);
    expect(await Promise.all([ana, ben].map(getPoints))).toEqual([0, 0]);
  });

  it('is for admins, wants to be confirmed, and knows its members', async () => {
    const { ana, chloe } = await counted();
    const others = await world.org();
    await expect(chloe.gamification.reset({ confirm: true })).rejects.toMatchObject({ status: 403 });
    const unconfirmed = { confirm: false } as unknown as { confirm: true };
    await expect(ana.gamification.reset(unconfirmed)).rejects.toMatchObject({ status: 400 });
    for (const memberId of [newId(), others.ana.me.memberId])
      await expect(ana.gamification.reset({ memberId, confirm: true })).rejects.toMatchObject({
        status: 404,
      });
    expect(await getPoints(ana)).toBe(20);
  });
});
