import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Story } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { stories } from '../stories/handlers.ts';
import { reviewers } from './handlers.ts';

const world = useWorld({ reviewers, stories });

let people: PeopleOf<typeof world>;
let board: TestBoard;
let story: Story;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ({ story } = await people.ana.stories.create({ projectId: board.projectId, title: 'Passkeys' }));
});

const idOf = (person: PersonOf<typeof world>) => person.me.memberId;
const agentOf = (person: PersonOf<typeof world>) => person.me.agentId ?? '';
const add = async (who: { memberId: string } | { agentId: string }, storyId = story.id) =>
  (await people.ana.reviewers.add({ storyId, ...who })).reviewer;
const listEvents = () =>
  world.rows(
    `select kind, story_id, subject, data from activity where org_id = $1 and kind like 'review%' order by seq`,
    people.orgId,
  );
/** Creates a project that only owners and admins see, with a story. */
async function arrangeHidden() {
  const { projectId } = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
  const { story: secret } = await people.ana.stories.create({ projectId, title: 'x' });
  return { projectId, secret };
}

describe('reviewers.add', () => {
  it('asks a member, who has said nothing yet, and says so', async () => {
    const { ben, chloe } = people;
    const { reviewer } = await chloe.reviewers.add({ storyId: 'web-1', memberId: idOf(ben) });
    expect(boardRegistry.reviewers.add.result.parse({ reviewer })).toEqual({ reviewer });
    expect(reviewer).toMatchObject({
      storyId: story.id,
      storyKey: 'WEB-1',
      storyTitle: 'Passkeys',
      projectId: board.projectId,
      reviewer: { kind: 'member', id: idOf(ben), name: 'Ben', memberId: idOf(ben), agentId: null },
      verdict: 'pending',
      stale: false,
      note: null,
      specVersion: null,
      headSha: null,
      diffHash: null,
      decidedAt: null,
      version: 1,
    });
    expect((await people.dan.reviewers.list({ storyId: story.id })).items).toEqual([reviewer]);
    expect(await listEvents()).toEqual([
      {
        kind: 'reviewer.added',
        story_id: story.id,
        subject: { type: 'story', id: story.id, key: 'WEB-1', title: 'Passkeys' },
        data: { memberId: idOf(ben), agentId: null },
      },
    ]);
  });

  it('asks an agent, beside its member', async () => {
    const { chloe, robo } = people;
    await add({ memberId: idOf(chloe) });
    const reviewer = await add({ agentId: agentOf(robo) });
    expect(reviewer.reviewer).toEqual({
      kind: 'agent',
      id: agentOf(robo),
      name: 'Robo',
      memberId: idOf(chloe),
      agentId: agentOf(robo),
    });
    expect((await listEvents()).at(-1)).toMatchObject({ data: { memberId: null, agentId: agentOf(robo) } });
  });

  it('asks nobody twice, also at the same moment', async () => {
    const { ana, ben, chloe, robo } = people;
    await add({ agentId: agentOf(robo) });
    await expect(add({ agentId: agentOf(robo) })).rejects.toMatchObject({
      status: 409,
      reason: 'already_exists',
    });
    const outcomes = await world.runUnderContention(
      { table: 'stories', id: story.id },
      () => ana.reviewers.add({ storyId: story.id, memberId: idOf(ben) }),
      () => chloe.reviewers.add({ storyId: story.id, memberId: idOf(ben) }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await listEvents()).toHaveLength(2);
  });

  it('wants one of a member and an agent', async () => {
    const { ana, ben, robo } = people;
    for (const who of [{}, { memberId: idOf(ben), agentId: agentOf(robo) }]) {
      await expect(ana.reviewers.add({ storyId: story.id, ...who })).rejects.toMatchObject({ status: 400 });
      await expect(ana.reviewers.remove({ storyId: story.id, ...who })).rejects.toMatchObject({
        status: 400,
      });
    }
  });

  it('asks an agent also while the policy takes no verdict of one: it is judged when it comes', async () => {
    const strict = await world.org({ policy: { agentsMayReview: false } });
    const { projectId } = await arrangeBoard(world, strict.orgId);
    const { story: theirs } = await strict.ana.stories.create({ projectId, title: 'x' });
    await strict.ana.reviewers.add({ storyId: theirs.id, agentId: agentOf(strict.robo) });
    await expect(
      strict.robo.reviewers.setVerdict({ storyId: theirs.id, verdict: 'approved' }),
    ).rejects.toMatchObject({
      status: 422,
      body: { details: { reason: 'policy', unmet: [{ gate: 'agentsMayReview' }] } },
    });
  });

  it('asks only who is there and can see the project', async () => {
    const { ana, ben, chloe, robo } = people;
    const { projectId, secret } = await arrangeHidden();
    for (const who of [{ memberId: idOf(chloe) }, { agentId: agentOf(robo) }]) {
      await expect(ana.reviewers.add({ storyId: secret.id, ...who })).rejects.toMatchObject({
        status: 422,
        reason: 'no_role_in_project',
      });
    }
    await world.rows(
      `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'viewer')`,
      people.orgId,
      projectId,
      idOf(chloe),
    );
    await add({ agentId: agentOf(robo) }, secret.id);

    const foreign = await world.org();
    await world.rows(`update members set status = 'removed' where id = $1`, idOf(chloe));
    for (const who of [
      { memberId: idOf(foreign.ben) },
      { agentId: agentOf(foreign.robo) },
      { memberId: idOf(chloe) },
      { agentId: agentOf(robo) },
      { memberId: newId() },
      { agentId: idOf(ben) },
    ]) {
      await expect(ana.reviewers.add({ storyId: story.id, ...who })).rejects.toMatchObject({
        status: 404,
        code: 'not_found',
      });
    }
  });

  it('stops at 50 reviewers', async () => {
    await world.rows(
      `with m as (insert into members (org_id, id, email, name, handle, role)
         select $1, gen_random_uuid(), 'm' || n || '@example.com', 'M', 'm' || n, 'viewer' from generate_series(1, 49) n
         returning id)
       insert into story_reviewers (org_id, id, story_id, project_id, member_id)
       select $1, gen_random_uuid(), $2, $3, m.id from m`,
      people.orgId,
      story.id,
      board.projectId,
    );
    await add({ memberId: idOf(people.ben) });
    await expect(add({ memberId: idOf(people.chloe) })).rejects.toMatchObject({
      reason: 'limit_exceeded',
      body: { details: { limit: 50 } },
    });
  });

  it('is for contributors, and not for archived projects', async () => {
    const { dan, ben } = people;
    await expect(dan.reviewers.add({ storyId: story.id, memberId: idOf(ben) })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
    await expect(add({ memberId: idOf(ben) })).rejects.toMatchObject({ reason: 'archived' });
    expect(await world.rows('select from story_reviewers where org_id = $1', people.orgId)).toEqual([]);
  });
});

describe('reviewers.remove', () => {
  it('takes a member or an agent away with the verdict, once', async () => {
    const { ana, ben, robo, chloe } = people;
    await add({ memberId: idOf(ben) });
    await add({ agentId: agentOf(robo) });
    for (const who of [{ memberId: idOf(ben) }, { agentId: agentOf(robo) }]) {
      expect(await chloe.reviewers.remove({ storyId: 'WEB-1', ...who })).toEqual({ deleted: true });
      await expect(chloe.reviewers.remove({ storyId: 'WEB-1', ...who })).rejects.toMatchObject({
        status: 404,
      });
      expect((await listEvents()).at(-1)).toMatchObject({
        kind: 'reviewer.removed',
        data: { memberId: null, agentId: null, ...who },
      });
    }
    expect((await ana.reviewers.list({ storyId: story.id })).items).toEqual([]);
    const again = await add({ memberId: idOf(ben) });
    expect(again.verdict).toBe('pending');
  });

  it("leaves another's verdict to them and to leads: no contributor takes a request for changes away", async () => {
    const { ana, ben, chloe, robo } = people;
    const remove = (who: PersonOf<typeof world>, whom: { memberId: string } | { agentId: string }) =>
      who.reviewers.remove({ storyId: story.id, ...whom });
    const say = (who: PersonOf<typeof world>) =>
      who.reviewers.setVerdict({ storyId: story.id, verdict: 'changes_requested', note: 'See above.' });
    const kept = { status: 403, body: { details: { reason: 'verdict_of_another' } } };
    const bens = { memberId: idOf(ben) };
    const chloes = { memberId: idOf(chloe) };
    const robos = { agentId: agentOf(robo) };
    for (const whom of [bens, chloes, robos]) await add(whom);
    for (const who of [ben, chloe, robo]) await say(who);
    await expect(remove(chloe, bens)).rejects.toMatchObject(kept);
    for (const whom of [bens, chloes]) await expect(remove(robo, whom)).rejects.toMatchObject(kept);
    expect((await ana.reviewers.list({ storyId: story.id })).items).toHaveLength(3);
    // Members may remove themselves and their own agents from the reviewers. A lead may remove all reviewers.
    for (const whom of [robos, chloes]) await remove(chloe, whom);
    await remove(ana, bens);
    await add(robos);
    await say(robo);
    await remove(robo, robos);
  });

  it('knows no reviewer of another story, and is not for viewers or archived projects', async () => {
    const { ana, ben, chloe, dan } = people;
    const { story: other } = await ana.stories.create({ projectId: board.projectId, title: 'y' });
    await add({ memberId: idOf(ben) });
    const who = { memberId: idOf(ben) };
    await expect(chloe.reviewers.remove({ storyId: other.id, ...who })).rejects.toMatchObject({
      status: 404,
    });
    await expect(dan.reviewers.remove({ storyId: story.id, ...who })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
    await expect(ana.reviewers.remove({ storyId: story.id, ...who })).rejects.toMatchObject({
      reason: 'archived',
    });
    expect((await ana.reviewers.list({ storyId: story.id })).items).toHaveLength(1);
  });
});

describe('reviewers.list', () => {
  it('shows them in the order in which they were asked, page by page', async () => {
    const { ana, ben, chloe, dan, robo } = people;
    const asked = [
      await add({ memberId: idOf(ben) }),
      await add({ agentId: agentOf(robo) }),
      await add({ memberId: idOf(chloe) }),
    ];
    const first = await dan.reviewers.list({ storyId: 'WEB-1', limit: 2 });
    expect(first.items).toEqual(asked.slice(0, 2));
    const second = await dan.reviewers.list({ storyId: 'WEB-1', limit: 2, cursor: first.nextCursor ?? '' });
    expect(second).toEqual({ items: asked.slice(2), nextCursor: null });
    await expect(ana.reviewers.list({ storyId: 'WEB-1', cursor: 'x' })).rejects.toMatchObject({
      status: 400,
    });
  });

  it('is not for those who cannot see the story', async () => {
    const { secret } = await arrangeHidden();
    await expect(people.chloe.reviewers.list({ storyId: secret.id })).rejects.toMatchObject({ status: 404 });
  });
});

describe('reviewers.listForUser', () => {
  const keys = (list: { items: readonly { storyKey: string }[] }) =>
    list.items.map(({ storyKey }) => storyKey);

  it('shows a member what the member is asked, and an agent what the agent is, the latest first', async () => {
    const { ana, ben, chloe, robo } = people;
    for (const title of ['y', 'z']) await ana.stories.create({ projectId: board.projectId, title });
    for (const key of ['WEB-1', 'WEB-3']) await add({ memberId: idOf(chloe) }, key);
    await add({ agentId: agentOf(robo) }, 'WEB-2');
    expect(keys(await chloe.reviewers.listForUser({}))).toEqual(['WEB-3', 'WEB-1']);
    expect(keys(await robo.reviewers.listForUser({}))).toEqual(['WEB-2']);
    expect(keys(await ben.reviewers.listForUser({}))).toEqual([]);
    expect(keys(await ben.reviewers.listForUser({ memberId: idOf(chloe) }))).toEqual(['WEB-3', 'WEB-1']);
    expect(keys(await ben.reviewers.listForUser({ agentId: agentOf(robo) }))).toEqual(['WEB-2']);
    expect(keys(await ben.reviewers.listForUser({ memberId: newId() }))).toEqual([]);
    await expect(
      ben.reviewers.listForUser({ memberId: idOf(chloe), agentId: agentOf(robo) }),
    ).rejects.toMatchObject({ status: 400 });

    const first = await chloe.reviewers.listForUser({ limit: 1 });
    expect(keys(first)).toEqual(['WEB-3']);
    const rest = await chloe.reviewers.listForUser({ limit: 1, cursor: first.nextCursor ?? '' });
    expect([keys(rest), rest.nextCursor]).toEqual([['WEB-1'], null]);
  });

  it('shows those of a verdict', async () => {
    const { ana, chloe } = people;
    await ana.stories.create({ projectId: board.projectId, title: 'y' });
    for (const key of ['WEB-1', 'WEB-2']) await add({ memberId: idOf(chloe) }, key);
    const { reviewer } = await chloe.reviewers.setVerdict({ storyId: 'WEB-2', verdict: 'approved' });
    expect((await chloe.reviewers.listForUser({ verdict: 'approved' })).items).toEqual([reviewer]);
    expect(keys(await chloe.reviewers.listForUser({ verdict: 'pending' }))).toEqual(['WEB-1']);
  });

  it('shows only what the caller may see', async () => {
    const { ana, ben, dan } = people;
    const { secret } = await arrangeHidden();
    await add({ memberId: idOf(ben) });
    await add({ memberId: idOf(ben) }, secret.id);
    expect(keys(await ana.reviewers.listForUser({ memberId: idOf(ben) }))).toEqual(['HID-1', 'WEB-1']);
    expect(keys(await dan.reviewers.listForUser({ memberId: idOf(ben) }))).toEqual(['WEB-1']);
    const bound = await world.token(people.orgId, idOf(ben), { projectIds: [board.projectId] });
    expect(keys(await bound.reviewers.listForUser({}))).toEqual(['WEB-1']);
  });
});
