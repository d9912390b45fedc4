import { describe, expect, it } from '@jest/globals';
import { useWorld } from '@muster/testing';
import { syncAllPoints, done, writeActivity, listJobs, getPoints } from '../../../test/activity.ts';
import { gamification } from './handlers.ts';

const world = useWorld({ gamification });

describe('asking for a count', () => {
  it('leaves one job, and the same one when asked again before it ran', async () => {
    const { orgId, ana, ben } = await world.org();
    await writeActivity(world, orgId, done(ana));
    const asked = await ana.gamification.sync();
    expect(asked).toEqual({ jobId: expect.any(String), state: 'queued', syncedAt: null });
    expect(await ben.gamification.sync()).toEqual(asked);
    expect(await listJobs(world, orgId)).toEqual([{ payload: {} }]);
  });

  it('is one job too where two ask at once', async () => {
    const { orgId, ana, ben } = await world.org();
    await writeActivity(world, orgId, done(ana));
    await syncAllPoints(world, orgId);
    await writeActivity(world, orgId, done(ana));
    const outcomes = await world.runUnderContention(
      { table: 'gamification_state', id: orgId, column: 'org_id' },
      () => ana.gamification.sync(),
      () => ben.gamification.sync(),
    );
    const jobIds = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value.jobId : String(outcome.reason),
    );
    expect(new Set(jobIds).size).toBe(1);
    expect(await listJobs(world, orgId)).toHaveLength(1);
  });

  it('is done at once when there is nothing to count, and asks anew when there is', async () => {
    const { orgId, ana } = await world.org();
    await writeActivity(world, orgId, done(ana));
    const { jobId } = await ana.gamification.sync();
    await syncAllPoints(world, orgId);
    expect(await ana.gamification.sync()).toEqual({
      jobId,
      state: 'done',
      syncedAt: expect.stringMatching(/Z$/),
    });
    await writeActivity(world, orgId, done(ana));
    const again = await ana.gamification.sync();
    expect(again.state).toBe('queued');
    expect(again.jobId).not.toBe(jobId);
    expect(await listJobs(world, orgId)).toHaveLength(2);
  });

  it('asks again for a job that was lost', async () => {
    const { orgId, ana } = await world.org();
    const { jobId } = await ana.gamification.sync();
    await world.rows(
      `update gamification_state set requested_at = now() - interval '61 minutes' where org_id = $1`,
      orgId,
    );
    expect((await ana.gamification.sync()).jobId).not.toBe(jobId);
    expect(await listJobs(world, orgId)).toHaveLength(2);
  });

  it('is nothing for viewers', async () => {
    const { dan } = await world.org();
    await expect(dan.gamification.sync()).rejects.toMatchObject({ status: 403 });
  });
});

describe('where the policy switches gamification off', () => {
  it('nothing is counted, nobody has points, and all of it counts when it is switched on again', async () => {
    const { orgId, ana } = await world.org();
    await writeActivity(world, orgId, done(ana));
    await syncAllPoints(world, orgId);
    await writeActivity(world, orgId, done(ana));
    await ana.gamification.sync();
    const switchOn = (isOn: boolean) =>
      world.rows(
        `update orgs set policy = jsonb_build_object('gamificationEnabled', $2::boolean) where id = $1`,
        orgId,
        isOn,
      );
    await switchOn(false);
    expect(await syncAllPoints(world, orgId)).toEqual({ counted: 0, hasMore: false });
    expect((await ana.gamification.profile()).profile).toMatchObject({
      points: 0,
      level: 1,
      rank: null,
      streakDays: 0,
      badges: [],
    });
    expect(await ana.gamification.leaderboard({ period: 'all' })).toEqual({ items: [], nextCursor: null });
    expect(await ana.gamification.sync()).toMatchObject({ state: 'done' });
    expect(await listJobs(world, orgId)).toHaveLength(1);
    await switchOn(true);
    await syncAllPoints(world, orgId);
    expect(await getPoints(ana)).toBe(20);
  });
});
