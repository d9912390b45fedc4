import { beforeEach, describe, expect, it } from '@jest/globals';
import { maxSearchedRows, newId } from '@muster/driver';
import { type Story } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { epics } from '../epics/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { assignments } from './handlers.ts';

const world = useWorld({ assignments, stories, epics });

let people: PeopleOf<typeof world>;
let board: TestBoard;
let story: Story;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ({ story } = await people.ana.stories.create({ projectId: board.projectId, title: 'Passkeys' }));
});

const storyTarget = () => ({ targetType: 'story', targetId: story.id }) as const;
const listEvents = () =>
  world.rows<{ data: unknown }>(
    `select kind, subject, project_id, data from activity where org_id = $1 and kind like 'assignment.%' order by seq`,
    people.orgId,
  );
const idOf = (person: PeopleOf<typeof world>['ana']) => person.me.memberId;
const roboId = () => people.robo.me.agentId ?? '';

describe('assignments.set', () => {
  it('wants to know whom: a member, an agent, or null for nobody', async () => {
    await expect(people.chloe.assignments.set(storyTarget())).rejects.toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'memberId' }] } },
    });
    await people.chloe.assignments.set({ ...storyTarget(), agentId: null });
  });

  it('puts a person and an agent side by side, and says so', async () => {
    const { chloe, ben } = people;
    const { assignment } = await chloe.assignments.set({
      targetType: 'story',
      targetId: 'web-1',
      memberId: idOf(ben),
      agentId: roboId(),
    });
    expect(boardRegistry.assignments.set.result.parse({ assignment })).toEqual({ assignment });
    expect(assignment).toMatchObject({
      targetType: 'story',
      targetId: story.id,
      targetKey: 'WEB-1',
      targetTitle: 'Passkeys',
      projectId: board.projectId,
      member: { id: idOf(ben), name: 'Ben', handle: 'ben' },
      agent: { id: roboId(), name: 'Robo' },
      assignedBy: { kind: 'member', memberId: idOf(chloe), agentId: null, name: 'Chloé' },
    });
    expect(assignment.updatedAt).toBe(assignment.createdAt);
    expect((await people.dan.assignments.listForProject({ projectId: 'WEB' })).items).toEqual([assignment]);
    expect(await listEvents()).toEqual([
      {
        kind: 'assignment.changed',
        subject: { type: 'story', id: story.id, key: 'WEB-1', title: 'Passkeys' },
        project_id: board.projectId,
        data: { memberId: idOf(ben), agentId: roboId(), previousMemberId: null, previousAgentId: null },
      },
    ]);
    expect((await people.ana.stories.get({ storyId: story.id })).story).toEqual(story);
  });

  it('leaves what is not named, and clears what is null', async () => {
    const { ana, ben } = people;
    const first = await ana.assignments.set({ ...storyTarget(), memberId: idOf(ben), agentId: roboId() });
    const { assignment: alone } = await ben.assignments.set({ ...storyTarget(), memberId: null });
    expect(alone).toMatchObject({ member: null, agent: { id: roboId() }, assignedBy: { name: 'Ben' } });
    expect(alone.createdAt).toBe(first.assignment.createdAt);
    const { assignment: both } = await ana.assignments.set({ ...storyTarget(), memberId: idOf(ana) });
    expect(both).toMatchObject({ member: { id: idOf(ana) }, agent: { id: roboId() } });
    expect((await listEvents()).map(({ data }) => data)).toMatchObject([
      {},
      { memberId: null, agentId: roboId(), previousMemberId: idOf(ben), previousAgentId: roboId() },
      { memberId: idOf(ana), agentId: roboId(), previousMemberId: null, previousAgentId: roboId() },
    ]);
  });

  it('leaves nobody where both are null, as often as one likes', async () => {
    const { ana, ben } = people;
    const nobody = { member: null, agent: null, assignedBy: null, createdAt: null, updatedAt: null };
    expect((await ana.assignments.set({ ...storyTarget(), memberId: null })).assignment).toMatchObject(
      nobody,
    );
    expect(await listEvents()).toEqual([]);
    await ana.assignments.set({ ...storyTarget(), memberId: idOf(ben) });
    for (let time = 0; time < 2; time += 1) {
      const { assignment } = await ana.assignments.set({ ...storyTarget(), memberId: null, agentId: null });
      expect(boardRegistry.assignments.set.result.parse({ assignment })).toEqual({ assignment });
      expect(assignment).toMatchObject({ targetId: story.id, targetKey: 'WEB-1', ...nobody });
    }
    expect(await listEvents()).toMatchObject([
      { kind: 'assignment.changed' },
      {
        kind: 'assignment.cleared',
        data: { previousMemberId: idOf(ben), previousAgentId: null },
      },
    ]);
    expect(await world.rows('select from assignments where org_id = $1', people.orgId)).toEqual([]);
  });

  it('changes nothing and says nothing when nothing is new', async () => {
    const { ana, ben } = people;
    const { assignment } = await ana.assignments.set({ ...storyTarget(), memberId: idOf(ben) });
    for (const again of [{ memberId: idOf(ben) }, { agentId: null }]) {
      expect(await people.chloe.assignments.set({ ...storyTarget(), ...again })).toEqual({ assignment });
    }
    expect(await listEvents()).toHaveLength(1);
  });

  it('assigns epics too, by their id alone', async () => {
    const { ana, ben } = people;
    const { epic } = await ana.epics.create({ projectId: board.projectId, title: 'Sign-in' });
    const onEpic = { targetType: 'epic', targetId: epic.id } as const;
    const { assignment } = await ana.assignments.set({ ...onEpic, memberId: idOf(ben) });
    expect(assignment).toMatchObject({ ...onEpic, targetKey: null, targetTitle: 'Sign-in' });
    expect(await listEvents()).toMatchObject([{ subject: { type: 'epic', id: epic.id, key: null } }]);
    await expect(
      ana.assignments.set({ targetType: 'epic', targetId: 'WEB-1', memberId: idOf(ben) }),
    ).rejects.toMatchObject({ status: 400, body: { details: { issues: [{ path: 'targetId' }] } } });
  });

  it('finds no target that is of another kind, hidden, of another organization, or nowhere', async () => {
    const { ana, chloe } = people;
    const { epic } = await ana.epics.create({ projectId: board.projectId, title: 'Sign-in' });
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    const { story: secret } = await ana.stories.create({ projectId: hidden.projectId, title: 'x' });
    const { epic: secretEpic } = await ana.epics.create({ projectId: hidden.projectId, title: 'x' });
    const foreign = await world.org();
    const away = await arrangeBoard(world, foreign.orgId, { key: 'AWAY' });
    const { story: theirs } = await foreign.ana.stories.create({ projectId: away.projectId, title: 'x' });
    const { epic: theirEpic } = await foreign.ana.epics.create({ projectId: away.projectId, title: 'x' });
    for (const [targetType, targetId] of [
      ['story', epic.id],
      ['epic', story.id],
      ['delivery_group', story.id],
      ['delivery_group', newId()],
      ['story', secret.id],
      ['story', 'HID-1'],
      ['epic', secretEpic.id],
      ['story', theirs.id],
      ['story', 'AWAY-1'],
      ['epic', theirEpic.id],
      ['story', newId()],
      ['story', 'WEB-99'],
    ] as const) {
      const target = { targetType, targetId };
      const outcome = { status: 404, code: 'not_found' };
      await expect(chloe.assignments.set({ ...target, memberId: null })).rejects.toMatchObject(outcome);
      await expect(chloe.assignments.clear(target)).rejects.toMatchObject(outcome);
    }
  });

  it('assigns only who is there and can see the project', async () => {
    const { ana, ben, chloe } = people;
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    await ana.stories.create({ projectId: hidden.projectId, title: 'x' });
    const secret = { targetType: 'story', targetId: 'HID-1' } as const;
    for (const assignee of [{ memberId: idOf(chloe) }, { agentId: roboId() }]) {
      await expect(ana.assignments.set({ ...secret, ...assignee })).rejects.toMatchObject({
        status: 422,
        reason: 'no_role_in_project',
      });
    }
    await world.rows(
      `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'viewer')`,
      people.orgId,
      hidden.projectId,
      idOf(chloe),
    );
    const { assignment } = await ana.assignments.set({
      ...secret,
      memberId: idOf(chloe),
      agentId: roboId(),
    });
    expect(assignment).toMatchObject({ member: { id: idOf(chloe) }, agent: { id: roboId() } });

    const foreign = await world.org();
    await world.rows(`update members set status = 'removed' where id = $1`, idOf(chloe));
    for (const assignee of [
      { memberId: idOf(foreign.ben) },
      { agentId: foreign.robo.me.agentId },
      { memberId: idOf(chloe) },
      { agentId: roboId() },
      { memberId: roboId() },
      { agentId: idOf(ben) },
    ]) {
      await expect(ana.assignments.set({ ...storyTarget(), ...assignee })).rejects.toMatchObject({
        status: 404,
        code: 'not_found',
      });
    }
    expect(
      await world.rows('select target_id from assignments where org_id = $1', people.orgId),
    ).toHaveLength(1);
  });

  it('does not assign whoever is being removed at that moment', async () => {
    const { ana, ben } = people;
    const removing = await world.database.owner.connect();
    try {
      await removing.query('begin');
      await removing.query(`update members set status = 'removed' where id = $1`, [idOf(ben)]);
      const assigning = ana.assignments.set({ ...storyTarget(), memberId: idOf(ben) });
      const outcome = expect(assigning).rejects.toMatchObject({ status: 404 });
      await world.waitUntilBlocked(1);
      await removing.query('select app.release_member($1, $2)', [people.orgId, idOf(ben)]);
      await removing.query('commit');
      await outcome;
    } finally {
      removing.release();
    }
    expect(await world.rows('select from assignments where org_id = $1', people.orgId)).toEqual([]);
  });

  it('lets two who assign at once have their way one after the other', async () => {
    const { ana, ben, chloe } = people;
    const outcomes = await world.runUnderContention(
      { table: 'stories', id: story.id },
      () => ana.assignments.set({ ...storyTarget(), memberId: idOf(ben) }),
      () => chloe.assignments.set({ ...storyTarget(), agentId: roboId() }),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect((await ana.assignments.listForOrg({})).items).toMatchObject([
      { member: { id: idOf(ben) }, agent: { id: roboId() } },
    ]);
  });

  it('is for contributors, and not for archived projects', async () => {
    const { ana, dan } = people;
    const assignee = { memberId: idOf(dan) };
    await expect(dan.assignments.set({ ...storyTarget(), ...assignee })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
    await expect(ana.assignments.set({ ...storyTarget(), ...assignee })).rejects.toMatchObject({
      reason: 'archived',
    });
    expect(await world.rows('select from assignments where org_id = $1', people.orgId)).toEqual([]);
  });

  it('leaves the story or the epic named in the audit', async () => {
    await people.ana.assignments.set({ targetType: 'story', targetId: 'WEB-1', memberId: idOf(people.ben) });
    expect(
      await world.rows(
        `select target from audit where org_id = $1 and operation = 'assignments.set'`,
        people.orgId,
      ),
    ).toEqual([{ target: 'WEB-1' }]);
  });
});

describe('assignments.clear', () => {
  it('takes both away, once', async () => {
    const { ana, ben, chloe } = people;
    await ana.assignments.set({ ...storyTarget(), memberId: idOf(ben), agentId: roboId() });
    expect(await chloe.assignments.clear({ targetType: 'story', targetId: 'web-1' })).toEqual({
      deleted: true,
    });
    await expect(chloe.assignments.clear(storyTarget())).rejects.toMatchObject({ status: 404 });
    expect((await listEvents()).at(-1)).toMatchObject({
      kind: 'assignment.cleared',
      data: { previousMemberId: idOf(ben), previousAgentId: roboId() },
    });
    expect((await ana.assignments.listForOrg({})).items).toEqual([]);
  });

  it('lets only one of two take it away', async () => {
    const { ana, ben } = people;
    await ana.assignments.set({ ...storyTarget(), memberId: idOf(ben) });
    const outcomes = await world.runUnderContention(
      { table: 'assignments', id: story.id, column: 'target_id' },
      () => ana.assignments.clear(storyTarget()),
      () => ben.assignments.clear(storyTarget()),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await listEvents()).toHaveLength(2);
  });

  it('is for contributors, and not for archived projects', async () => {
    const { ana, ben, dan } = people;
    await ana.assignments.set({ ...storyTarget(), memberId: idOf(ben) });
    await expect(dan.assignments.clear(storyTarget())).rejects.toMatchObject({ code: 'forbidden' });
    await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
    await expect(ana.assignments.clear(storyTarget())).rejects.toMatchObject({ reason: 'archived' });
    await world.rows('update projects set archived_at = null where id = $1', board.projectId);
    expect((await ana.assignments.listForOrg({})).items).toHaveLength(1);
  });
});

describe('the lists of assignments', () => {
  /**
   * Assigns two epics and three stories to Ben. One story is in a project that only owners, admins and its
   * members can see.
   */
  async function assignAll() {
    const { ana, ben } = people;
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    const made = [
      story.id,
      (await ana.stories.create({ projectId: board.projectId, title: 'y' })).story.id,
      (await ana.stories.create({ projectId: hidden.projectId, title: 'z' })).story.id,
    ];
    for (const targetId of made) {
      const agentId = targetId === made[2] ? null : roboId();
      await ana.assignments.set({ targetType: 'story', targetId, memberId: idOf(ben), agentId });
    }
    const madeEpics: string[] = [];
    for (const title of ['A', 'B']) {
      const { epic } = await ana.epics.create({ projectId: board.projectId, title });
      madeEpics.push(epic.id);
      await ana.assignments.set({ targetType: 'epic', targetId: epic.id, agentId: roboId() });
    }
    return { stories: made.toReversed(), epics: madeEpics.toReversed(), hidden };
  }
  const targets = (items: readonly { targetId: string }[]) => items.map(({ targetId }) => targetId);

  it('show the whole organization page by page, stories before epics, the newest of each first', async () => {
    const all = await assignAll();
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await people.ben.assignments.listForOrg({ limit: 2, ...(cursor != null && { cursor }) });
      seen.push(...targets(page.items));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual([...all.stories, ...all.epics]);
  });

  it('show what the caller may see, with every kind of token', async () => {
    const all = await assignAll();
    const [secret, ...open] = [...all.stories, ...all.epics];
    for (const person of [people.chloe, people.dan, people.robo]) {
      expect(targets((await person.assignments.listForOrg({})).items)).toEqual(open);
    }
    const bound = await world.token(people.orgId, idOf(people.ana), { projectIds: [all.hidden.projectId] });
    expect(targets((await bound.assignments.listForOrg({})).items)).toEqual([secret]);
    await expect(people.chloe.assignments.listForProject({ projectId: 'HID' })).rejects.toMatchObject({
      status: 404,
    });
    expect(targets((await people.ana.assignments.listForProject({ projectId: 'HID' })).items)).toEqual([
      secret,
    ]);
  });

  it('look at so many for a page at most, where a caller sees little', async () => {
    const { projectId } = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    await people.ana.assignments.set({ ...storyTarget(), memberId: idOf(people.ben) });
    await world.rows(
      `insert into assignments (org_id, target_type, target_id, project_id, member_id, assigned_by)
       select $1, 'story', ('ff000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $2, $3, '{}' from generate_series(1, $4) n`,
      ...[people.orgId, projectId, idOf(people.ben), maxSearchedRows],
    );
    const first = await people.chloe.assignments.listForOrg({});
    expect(first).toMatchObject({ items: [], nextCursor: expect.any(String) });
    const rest = await people.chloe.assignments.listForOrg({ cursor: first.nextCursor ?? '' });
    expect(rest).toMatchObject({ items: [{ targetId: story.id }], nextCursor: null });
  });

  it('show those of a member or an agent, of others nothing', async () => {
    const all = await assignAll();
    const list = async (who: object) => targets((await people.ana.assignments.listForOrg(who)).items);
    expect(await list({ memberId: idOf(people.ben) })).toEqual(all.stories);
    const [, ...ofRobo] = all.stories;
    expect(await list({ agentId: roboId() })).toEqual([...ofRobo, ...all.epics]);
    expect(await list({ memberId: idOf(people.ben), agentId: roboId() })).toEqual(ofRobo);
    expect(await list({ memberId: newId() })).toEqual([]);
  });

  it('show a project page by page, and no cursor of another list', async () => {
    const all = await assignAll();
    const { ana } = people;
    const first = await ana.assignments.listForProject({ projectId: 'WEB', limit: 3 });
    const second = await ana.assignments.listForProject({
      projectId: 'WEB',
      limit: 3,
      cursor: first.nextCursor ?? '',
    });
    expect(targets([...first.items, ...second.items])).toEqual([...all.stories.slice(1), ...all.epics]);
    expect(second.nextCursor).toBeNull();
    const { nextCursor: ofStories } = await ana.stories.list({ projectId: 'WEB', limit: 1 });
    await expect(
      ana.assignments.listForProject({ projectId: 'WEB', cursor: ofStories ?? '' }),
    ).rejects.toMatchObject({ status: 400 });
  });

  it('go with the story and with the epic', async () => {
    const all = await assignAll();
    const { ana } = people;
    await ana.stories.delete({ storyId: story.id });
    await ana.epics.delete({ epicId: all.epics[0] ?? '' });
    expect(targets((await ana.assignments.listForProject({ projectId: 'WEB' })).items)).toEqual([
      all.stories[1],
      all.epics[1],
    ]);
  });
});
