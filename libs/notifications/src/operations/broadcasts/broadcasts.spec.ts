import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { notificationsRegistry } from '@muster/notifications-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeStory, arrangeRole, arrangeTeam } from '../../../test/events.ts';
import { notificationReaction } from '../../notify.ts';
import { activity } from '../activity/handlers.ts';
import { notifications } from '../notifications/handlers.ts';
import { broadcasts } from './handlers.ts';

const world = useWorld({ activity, broadcasts, notifications }, [notificationReaction]);

let people: PeopleOf<typeof world>;
/** A private project of Chloé (contributor) and Dan (viewer), and a team of Chloé and Eve. */
let projectId: string;
let teamId: string;
let eve: PersonOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
  const { orgId, ana, chloe, dan } = people;
  eve = await world.member(orgId, 'Eve', 'member');
  ({ projectId } = await arrangeStory(world, orgId, ana.me.memberId, { key: 'HID', visibility: 'private' }));
  await arrangeRole(world, orgId, projectId, chloe.me.memberId, 'contributor');
  await arrangeRole(world, orgId, projectId, dan.me.memberId, 'viewer');
  teamId = await arrangeTeam(world, orgId, 'Web', chloe.me.memberId, eve.me.memberId);
});

/** Returns the names of members who have the broadcast in their inbox. */
const listNotifiedMembers = async (): Promise<string[]> =>
  (
    await world.rows<{ name: string }>(
      `select m.name from notifications n join members m on m.org_id = n.org_id and m.id = n.member_id
       where n.org_id = $1 order by m.name collate "C"`,
      people.orgId,
    )
  ).map(({ name }) => name);
const listBroadcasts = async (
  who: PersonOf<typeof world>,
  params: { projectId?: string; includeExpired?: boolean } = {},
) => (await who.broadcasts.list(params)).items.map((item) => item.message);

describe('broadcasts.send', () => {
  it('to everybody needs an admin with the scope of one', async () => {
    const { orgId, ana, ben } = people;
    for (const { me } of [ana, ben]) {
      const writer = await world.token(orgId, me.memberId, { scopes: ['write'], agent: 'Scribe' });
      await expect(writer.broadcasts.send({ message: 'Lunch' })).rejects.toMatchObject({
        status: 403,
        reason: 'scope',
      });
      expect((await writer.broadcasts.send({ message: 'Lunch', teamId })).recipients).toBeGreaterThan(0);
      expect((await writer.broadcasts.send({ message: 'Lunch', projectId })).recipients).toBeGreaterThan(0);
    }
  });

  it('goes with a token that is bound to projects to those alone', async () => {
    const bound = await world.token(people.orgId, people.ana.me.memberId, { projectIds: [projectId] });
    expect((await bound.broadcasts.send({ message: 'Hi', projectId })).recipients).toBeGreaterThan(0);
    for (const params of [{}, { teamId }])
      await expect(bound.broadcasts.send({ message: 'Hi', ...params })).rejects.toMatchObject({
        status: 403,
        reason: 'bound_token',
      });
  });

  it('leaves no word of the message in the trail', async () => {
    await people.ana.broadcasts.send({ message: 'The vault opens with 4711' });
    const trail = await world.rows(
      'select to_jsonb(a)::text as entry from audit a where org_id = $1',
      people.orgId,
    );
    expect(trail).toHaveLength(1);
    expect(JSON.stringify(trail)).not.toContain('4711');
  });

  it('tells everybody but the sender', async () => {
    const { ana, dan } = people;
    const { broadcast, recipients } = await ana.broadcasts.send({ message: 'Lunch', level: 'critical' });
    expect(broadcast).toEqual({
      id: expect.any(String),
      message: 'Lunch',
      level: 'critical',
      projectId: null,
      teamId: null,
      sender: { kind: 'member', memberId: ana.me.memberId, agentId: null, name: 'Ana' },
      expiresAt: new Date(Date.parse(broadcast.createdAt) + 7 * 86_400_000).toISOString(),
      createdAt: expect.any(String),
      updatedAt: broadcast.createdAt,
    });
    expect([recipients, await listNotifiedMembers()]).toEqual([4, ['Ben', 'Chloé', 'Dan', 'Eve']]);
    expect((await dan.notifications.list()).items).toMatchObject([
      {
        kind: 'broadcast',
        title: 'Critical message from Ana',
        body: 'Lunch',
        subject: { type: 'broadcast', id: broadcast.id },
      },
    ]);
    for (const who of [ana, dan]) expect((await who.broadcasts.list()).items).toEqual([broadcast]);
    expect((await dan.activity.list()).items).toMatchObject([
      { kind: 'broadcast.posted', projectId: null, subject: { title: 'Lunch' } },
    ]);
  });

  it('goes to those who may see the project, to the team, or to those in the team who may see it', async () => {
    const { ana, ben, chloe, dan, orgId } = people;
    const cases = [
      [{ projectId: 'hid' }, ['Ana', 'Ben', 'Dan']],
      [{ teamId }, ['Eve']],
      [{ projectId, teamId }, []],
    ] as const;
    for (const [to, whom] of cases) {
      await world.rows('delete from notifications where org_id = $1', orgId);
      const { recipients } = await chloe.broadcasts.send({ message: JSON.stringify(to), ...to });
      expect([to, recipients, await listNotifiedMembers()]).toEqual([to, whom.length, whom]);
    }
    const [project, team, both] = cases.map(([to]) => JSON.stringify(to));
    expect(await listBroadcasts(chloe)).toEqual([both, team, project]);
    expect(await listBroadcasts(eve)).toEqual([team]);
    for (const who of [ana, ben, dan]) expect(await listBroadcasts(who)).toEqual([project]);
    expect(await listBroadcasts(chloe, { projectId: 'HID' })).toEqual([both, project]);
  });

  it("keeps a team's message out of what others may read", async () => {
    const { chloe, dan } = people;
    await chloe.broadcasts.send({ message: 'Between us', teamId });
    const { items } = await dan.activity.list();
    expect(items).toMatchObject([{ kind: 'broadcast.posted', subject: { title: 'To Web' } }]);
    expect(JSON.stringify(items)).not.toContain('Between us');
  });

  it('cuts a long message in the inbox, not in the broadcast', async () => {
    const message = '😀'.repeat(4_000);
    await people.ana.broadcasts.send({ message });
    const [{ body } = { body: '' }] = (await people.dan.notifications.list()).items;
    expect([Array.from(body).length, body.at(-1)]).toEqual([280, '…']);
    expect(await listBroadcasts(people.dan)).toEqual([message]);
  });

  it('is for admins to everybody, for contributors to a project, and for every member to a team', async () => {
    const { ana, ben, chloe, dan } = people;
    const refused = async (
      who: PersonOf<typeof world>,
      to: { projectId?: string; teamId?: string },
      status: number,
    ) => {
      await expect(who.broadcasts.send({ message: 'x', ...to })).rejects.toMatchObject({ status });
    };
    await refused(dan, { projectId }, 403);
    await refused(chloe, {}, 403);
    await refused(eve, { projectId }, 404);
    await refused(eve, { projectId, teamId }, 404);
    const other = await arrangeTeam(world, people.orgId, 'App', ana.me.memberId);
    // Eve is a viewer of the project, but has a higher role in the organization.
    await arrangeRole(world, people.orgId, projectId, eve.me.memberId, 'viewer');
    await refused(eve, { projectId, teamId: other }, 403);
    // One sender belongs to no team, and the other one to another team.
    await ben.broadcasts.send({ message: 'x', projectId, teamId });
    expect((await chloe.broadcasts.send({ message: 'x', teamId: other })).recipients).toBe(1);
    expect(await world.rows('select 1 from broadcasts where org_id = $1', people.orgId)).toHaveLength(2);
  });

  it('answers projects and teams that are missing, hidden or of another organization alike', async () => {
    const foreign = await world.org();
    const away = await arrangeStory(world, foreign.orgId, foreign.ana.me.memberId, { key: 'FAR' });
    const team = await arrangeTeam(world, foreign.orgId, 'Far');
    for (const to of [
      { projectId: newId() },
      { projectId: away.projectId },
      { projectId: 'FAR' },
      { teamId: newId() },
      { teamId: team },
    ]) {
      await expect(people.ana.broadcasts.send({ message: 'x', ...to })).rejects.toMatchObject({
        status: 404,
      });
    }
  });

  it('writes nothing into an archived project', async () => {
    await world.rows('update projects set archived_at = now() where org_id = $1', people.orgId);
    await expect(people.ana.broadcasts.send({ message: 'x', projectId })).rejects.toMatchObject({
      status: 422,
      reason: 'archived',
    });
    expect(await listNotifiedMembers()).toEqual([]);
  });

  it.each([
    { message: ' ' },
    { message: 'x'.repeat(4_001) },
    { message: 'x', expiresInSeconds: 0 },
    { message: 'x', expiresInSeconds: 2_592_001 },
  ])('refuses %j', async (params) => {
    await expect(people.ana.broadcasts.send(params)).rejects.toMatchObject({ status: 400 });
  });
});

describe('broadcasts.list', () => {
  it('pages, newest first', async () => {
    const { ana, dan } = people;
    for (const message of ['one', 'two', 'three']) await ana.broadcasts.send({ message });
    const first = await dan.broadcasts.list({ limit: 2 });
    expect(notificationsRegistry.broadcasts.list.result.parse(first)).toEqual(first);
    await ana.broadcasts.send({ message: 'four' });
    const second = await dan.broadcasts.list({ limit: 2, cursor: first.nextCursor ?? '' });
    expect([...first.items, ...second.items].map((item) => item.message)).toEqual(['three', 'two', 'one']);
    expect(second.nextCursor).toBeNull();
  });

  it('leaves out what is over by the clock of the database, unless asked for it', async () => {
    const { ana, dan } = people;
    await ana.broadcasts.send({ message: 'old', expiresInSeconds: 1 });
    await world.rows(
      `update broadcasts set created_at = created_at - interval '60 s', expires_at = expires_at - interval '60 s' where org_id = $1`,
      people.orgId,
    );
    await ana.broadcasts.send({ message: 'new', expiresInSeconds: 60 });
    expect(await listBroadcasts(dan)).toEqual(['new']);
    expect(await listBroadcasts(dan, { includeExpired: true })).toEqual(['new', 'old']);
  });

  it('answers a hidden project like none, and what was sent into one that is hidden now is hidden', async () => {
    const { chloe, orgId } = people;
    await chloe.broadcasts.send({ message: 'x', projectId });
    await world.rows(
      'delete from project_members where org_id = $1 and member_id = $2',
      orgId,
      chloe.me.memberId,
    );
    expect(await listBroadcasts(chloe)).toEqual([]);
    for (const hidden of [projectId, newId(), 'NONE']) {
      await expect(chloe.broadcasts.list({ projectId: hidden })).rejects.toMatchObject({ status: 404 });
    }
  });

  it('shows nothing of another organization', async () => {
    await people.ana.broadcasts.send({ message: 'x' });
    const foreign = await world.org();
    expect(await listBroadcasts(foreign.ana)).toEqual([]);
  });
});
