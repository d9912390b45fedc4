import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PersonOf, useWorld } from '@muster/testing';
import { syncAllPoints, done, writeActivity, createProject } from '../../../test/activity.ts';
import { gamification } from './handlers.ts';

const world = useWorld({ gamification });

describe('a leaderboard', () => {
  const ranks = async (
    who: PersonOf<typeof world>,
    params: Parameters<PersonOf<typeof world>['gamification']['leaderboard']>[0],
  ) =>
    (await who.gamification.leaderboard(params)).items.map(({ rank, member, points }) => [
      rank,
      member.name,
      points,
    ]);

  it('goes from the top, with ties, a page at a time, and is the same at any length of page', async () => {
    const { orgId, ana, ben, chloe, dan } = await world.org();
    const eve = await world.member(orgId, 'Eve', 'member');
    await writeActivity(
      world,
      orgId,
      ...[done(ana), done(ana), done(ana), done(ben), done(ben), done(chloe), done(chloe), done(eve)],
    );
    await syncAllPoints(world, orgId);
    const all = (await dan.gamification.leaderboard({ period: 'all' })).items;
    expect(all.map(({ rank, points }) => [rank, points])).toEqual([
      [1, 30],
      [2, 20],
      [2, 20],
      [4, 10],
    ]);
    for (const limit of [1, 2, 3]) {
      const seen: unknown[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<PersonOf<typeof world>['gamification']['leaderboard']>> =
          await dan.gamification.leaderboard({
            period: 'all',
            limit,
            ...(cursor !== null && { cursor }),
          });
        seen.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(seen).toEqual(all);
    }
  });

  it('is of this week or month, with the change against the one before; over all time there is none', async () => {
    const { orgId, ana } = await world.org();
    // A time in the previous week, and a time in the previous month.
    const lastWeek = `date_trunc('week', now()) - interval '1 day'`;
    const lastMonth = `date_trunc('month', now()) - interval '1 day'`;
    await writeActivity(
      world,
      orgId,
      done(ana, newId(), { at: lastMonth }),
      done(ana, newId(), { at: lastMonth }),
      done(ana, newId(), { at: lastWeek }),
      done(ana),
    );
    await syncAllPoints(world, orgId);
    const [sums] = await world.rows<{ week: number; before: number; month: number; earlier: number }>(
      `select sum(points) filter (where at >= date_trunc('week', now()))::int as week,
         sum(points) filter (where at < date_trunc('week', now()) and at >= date_trunc('week', now()) - interval '1 week')::int as before,
         sum(points) filter (where at >= date_trunc('month', now()))::int as month,
         sum(points) filter (where at < date_trunc('month', now()))::int as earlier
       from point_entries where org_id = $1`,
      orgId,
    );
    if (sums === undefined) throw new Error('nothing was counted');
    const { week, before, month, earlier } = sums;
    expect((await ana.gamification.leaderboard({ period: 'week' })).items).toMatchObject([
      { points: week, delta: week - before },
    ]);
    expect((await ana.gamification.leaderboard({ period: 'month' })).items).toMatchObject([
      { points: month, delta: month - earlier },
    ]);
    expect((await ana.gamification.leaderboard({ period: 'all' })).items).toMatchObject([
      { points: 40, delta: null },
    ]);
  });

  it('is of one project, of the members of one team, or of both', async () => {
    const { orgId, ana, ben, chloe } = await world.org();
    const [web, docs] = [
      await createProject(world, orgId, 'WEB', 'org'),
      await createProject(world, orgId, 'DOCS', 'org'),
    ];
    const teamId = newId();
    await world.rows('insert into teams (org_id, id, name) values ($1, $2, $3)', orgId, teamId, 'Web');
    for (const { me } of [ben, chloe])
      await world.rows(
        `insert into team_members (org_id, team_id, member_id, role) values ($1, $2, $3, 'member')`,
        orgId,
        teamId,
        me.memberId,
      );
    const inProject = (projectId: string, who: PersonOf<typeof world>) => done(who, newId(), { projectId });
    await writeActivity(
      world,
      orgId,
      inProject(web, ana),
      inProject(web, ana),
      inProject(web, ben),
      inProject(docs, ben),
      inProject(docs, chloe),
    );
    await syncAllPoints(world, orgId);
    expect(await ranks(ana, { period: 'week' })).toHaveLength(3);
    expect(await ranks(ana, { period: 'week', projectId: 'web' })).toEqual([
      [1, 'Ana', 20],
      [2, 'Ben', 10],
    ]);
    expect(await ranks(ana, { period: 'all', teamId })).toEqual([
      [1, 'Ben', 20],
      [2, 'Chloé', 10],
    ]);
    expect(await ranks(ana, { period: 'month', teamId, projectId: web })).toEqual([[1, 'Ben', 10]]);
  });

  it('shows nobody who is no member any more, and ranks the others without them', async () => {
    const { orgId, ana, ben, chloe } = await world.org();
    await writeActivity(world, orgId, done(chloe), done(chloe), done(ben));
    await syncAllPoints(world, orgId);
    await world.rows(
      `update members set status = 'removed' where org_id = $1 and id = $2`,
      orgId,
      chloe.me.memberId,
    );
    expect(await ranks(ana, { period: 'all' })).toEqual([[1, 'Ben', 10]]);
    expect((await ben.gamification.profile()).profile.rank).toBe(1);
  });

  it('of a project that is hidden, or of no project or team, is not found', async () => {
    const { orgId, ana, chloe } = await world.org();
    const others = await world.org();
    const hidden = await createProject(world, orgId, 'HID', 'private');
    const foreign = await createProject(world, others.orgId, 'FOR', 'org');
    const bound = await world.token(orgId, ana.me.memberId, {
      projectIds: [await createProject(world, orgId, 'WEB', 'org')],
    });
    expect(await ranks(ana, { period: 'week', projectId: hidden })).toEqual([]);
    for (const who of [chloe, bound])
      await expect(ranks(who, { period: 'week', projectId: 'HID' })).rejects.toMatchObject({ status: 404 });
    for (const params of [
      { projectId: foreign },
      { projectId: 'NONE' },
      { projectId: newId() },
      { teamId: newId() },
    ])
      await expect(ranks(ana, { period: 'week', ...params })).rejects.toMatchObject({ status: 404 });
  });
});
