import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { useWorld } from '@muster/testing';
import {
  assignmentActivity,
  syncAllPoints,
  done,
  writeActivity,
  listJobs,
  getPoints,
  createProject,
  reopenedActivity,
} from '../test/activity.ts';
import { maxEntriesPerTransaction } from './sync-points.ts';
import { gamification } from './operations/gamification/handlers.ts';

const world = useWorld({ gamification });

describe('the counting', () => {
  it('gives a done story to its assigned member, or to the member of its assigned agent', async () => {
    const { orgId, ana, ben, chloe, robo } = await world.org();
    const [first, second, third] = [newId(), newId(), newId()];
    await writeActivity(
      world,
      orgId,
      assignmentActivity(ana, first, ben.me.memberId),
      done(ana, first),
      assignmentActivity(ana, second, null, robo.me.agentId),
      done(ana, second),
      // The third story is assigned only after Ana has finished it, so Ana gets its points.
      done(ana, third),
      assignmentActivity(ana, third, ben.me.memberId),
    );
    await syncAllPoints(world, orgId);
    expect(await Promise.all([ana, ben, chloe].map(getPoints))).toEqual([10, 10, 10]);
    expect(await getPoints(robo)).toBe(10);
  });

  it('gives it to whoever did it where the assignment was cleared, or is of nobody here any more', async () => {
    const { orgId, ana, ben, dan } = await world.org();
    const [first, second] = [newId(), newId()];
    await world.rows(
      `update members set status = 'removed' where org_id = $1 and id = $2`,
      orgId,
      dan.me.memberId,
    );
    await writeActivity(
      world,
      orgId,
      assignmentActivity(ana, first, ben.me.memberId),
      {
        kind: 'assignment.cleared',
        by: ana,
        storyId: first,
        data: { previousMemberId: ben.me.memberId, previousAgentId: null },
      },
      done(ana, first),
      assignmentActivity(ana, second, dan.me.memberId),
      done(ana, second),
    );
    await syncAllPoints(world, orgId);
    expect(await Promise.all([ana, ben].map(getPoints))).toEqual([20, 0]);
  });

  it('takes back what done gave when the story is opened again, once, also in a later count', async () => {
    const { orgId, ana, ben } = await world.org();
    const storyId = newId();
    await writeActivity(world, orgId, done(ana, storyId), done(ana));
    await syncAllPoints(world, orgId);
    expect(await getPoints(ana)).toBe(20);
    await writeActivity(world, orgId, reopenedActivity(ben, storyId), reopenedActivity(ben, storyId));
    await syncAllPoints(world, orgId);
    expect(await getPoints(ana)).toBe(10);
    await writeActivity(world, orgId, done(ben, storyId));
    await syncAllPoints(world, orgId);
    expect([await getPoints(ana), await getPoints(ben)]).toEqual([10, 10]);
  });

  it('takes it from the day and the week in which it was given', async () => {
    const { orgId, ana } = await world.org();
    const storyId = newId();
    await writeActivity(world, orgId, done(ana, storyId, { at: `now() - interval '1 day'` }), done(ana));
    await syncAllPoints(world, orgId);
    expect((await ana.gamification.profile()).profile.streakDays).toBe(2);
    await writeActivity(world, orgId, reopenedActivity(ana, storyId));
    await syncAllPoints(world, orgId);
    expect((await ana.gamification.profile()).profile.streakDays).toBe(1);
    expect((await ana.gamification.leaderboard({ period: 'all' })).items).toMatchObject([{ points: 10 }]);
  });

  it('counts nothing twice: not run again, not two at once, not from the beginning', async () => {
    const { orgId, ana, ben } = await world.org();
    const storyId = newId();
    await writeActivity(
      world,
      orgId,
      done(ana, storyId),
      reopenedActivity(ana, storyId),
      done(ben, storyId),
      done(ana),
      done(ben),
    );
    await world.rows('insert into gamification_state (org_id) values ($1)', orgId);
    const outcomes = await world.runUnderContention(
      { table: 'gamification_state', id: orgId, column: 'org_id' },
      () => syncAllPoints(world, orgId),
      () => syncAllPoints(world, orgId),
    );
    const runs = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    runs.push(await syncAllPoints(world, orgId));
    expect(runs.map(({ counted }) => counted).sort()).toEqual([0, 0, 5]);
    const sums = () =>
      world.rows(
        `select member_id, points, period, scope_id from point_scores where org_id = $1 order by 1, 3, 4`,
        orgId,
      );
    const before = await sums();
    expect(await Promise.all([ana, ben].map(getPoints))).toEqual([10, 20]);
    // Simulates a restore that lost the position of the last counted entry.
    await world.rows('update gamification_state set counted_seq = 0 where org_id = $1', orgId);
    expect(await syncAllPoints(world, orgId)).toEqual({ counted: 5, hasMore: false });
    expect(await sums()).toEqual(before);
    expect(await Promise.all([ana, ben].map(getPoints))).toEqual([10, 20]);
  });

  it('goes so far in a transaction at most, and leaves a job for the rest', async () => {
    const { orgId, ana } = await world.org();
    const storyIds = Array.from({ length: maxEntriesPerTransaction + 1 }, () => newId());
    await writeActivity(world, orgId, ...storyIds.map((storyId) => done(ana, storyId)));
    expect(await syncAllPoints(world, orgId)).toEqual({ counted: maxEntriesPerTransaction, hasMore: true });
    expect(await listJobs(world, orgId)).toHaveLength(1);
    expect(await ana.gamification.sync()).toMatchObject({ state: 'running', syncedAt: null });
    expect(await listJobs(world, orgId)).toHaveLength(1);
    expect(await syncAllPoints(world, orgId)).toEqual({ counted: 1, hasMore: false });
    expect(await getPoints(ana)).toBe(10 * (maxEntriesPerTransaction + 1));
  });

  it('keeps the sums equal to what stands in the ledger', async () => {
    const { orgId, ana, ben, chloe } = await world.org();
    const web = await createProject(world, orgId, 'WEB', 'org');
    const storyIds = Array.from({ length: 7 }, () => newId());
    const isDone = new Set<string>();
    for (let round = 0; round < 6; round += 1) {
      const entries = Array.from({ length: 9 }, (_, index) => {
        const storyId = storyIds[(round * 5 + index * 3) % 7] ?? '';
        const who = [ana, ben, chloe][(round + index) % 3] ?? ana;
        const wasDone = isDone.has(storyId);
        if (wasDone) isDone.delete(storyId);
        else isDone.add(storyId);
        return {
          ...(wasDone ? reopenedActivity(who, storyId) : done(who, storyId)),
          projectId: index % 2 === 0 ? web : null,
        };
      });
      await writeActivity(world, orgId, ...entries);
      await syncAllPoints(world, orgId);
    }
    const [sums] = await world.rows(
      `select (select coalesce(sum(points), 0)::int from point_entries where org_id = $1 and taken_back_seq is null) as ledger,
         (select sum(points)::int from point_tallies where org_id = $1) as tallies,
         (select sum(times)::int * 10 from point_tallies where org_id = $1) as times,
         (select sum(points)::int from point_days where org_id = $1) as days,
         (select sum(points)::int from point_scores where org_id = $1 and scope_id = $1 and period = 'all') as scores`,
      orgId,
    );
    const points = 10 * isDone.size;
    expect(sums).toEqual({ ledger: points, tallies: points, times: points, days: points, scores: points });
  });

  it('keeps leaderboards of this period and the one before', async () => {
    const { orgId, ana } = await world.org();
    await writeActivity(
      world,
      orgId,
      ...[0, 7, 14, 70].map((days) => done(ana, newId(), { at: `now() - interval '${days} days'` })),
    );
    await syncAllPoints(world, orgId);
    const weeks = await world.rows(
      `select points from point_scores where org_id = $1 and period = 'week'`,
      orgId,
    );
    expect(weeks).toEqual([{ points: 10 }, { points: 10 }]);
    // Moves this week's sums back by two weeks.
    await world.rows(
      `update point_scores set starts_on = starts_on - 14 where org_id = $1 and period = 'week'`,
      orgId,
    );
    await writeActivity(world, orgId, done(ana));
    await syncAllPoints(world, orgId);
    expect(
      await world.rows(`select points from point_scores where org_id = $1 and period = 'week'`, orgId),
    ).toHaveLength(1);
    expect(await getPoints(ana)).toBe(50);
  });
});
