/** Notifications about changes to people: access to projects, invitations and seats. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Subject } from '@muster/contract';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import {
  arrangeStory,
  arrangeRole,
  arrangeTeam,
  namesOf,
  type ArrangedStory,
  type EmittedEvent,
  createEmitHandler,
  listNotifiedMembers,
} from '../test/events.ts';
import { notificationReaction } from './notify.ts';
import { notifications } from './operations/notifications/handlers.ts';

const world = useWorld({ notifications }, [notificationReaction]);

let people: PeopleOf<typeof world>;
let place: ArrangedStory;
beforeEach(async () => {
  people = await world.org();
  place = await arrangeStory(world, people.orgId, people.ana.me.memberId, {
    key: 'HID',
    visibility: 'private',
  });
});

const emitEvents = (who: PersonOf<typeof world>, ...said: EmittedEvent[]) =>
  world.call(who, createEmitHandler(said), {});
const idOf = (who: PersonOf<typeof world>) => who.me.memberId;
const listNotified = () => listNotifiedMembers(world, people.orgId);
const listNotifiedNames = async () => namesOf(await listNotified());

describe('access', () => {
  const requested = (who: PersonOf<typeof world>): EmittedEvent => ({
    kind: 'access.requested',
    subject: place.project,
    data: { accessRequestId: newId(), memberId: idOf(who), role: 'contributor' },
  });
  const resolved = (who: PersonOf<typeof world>, decision: string): EmittedEvent => ({
    kind: 'access.resolved',
    subject: place.project,
    data: { accessRequestId: newId(), memberId: idOf(who), decision, role: 'contributor' },
  });
  it('is asked of those who lead the project, directly or by a team', async () => {
    const { orgId, chloe, dan } = people;
    const [eve, finn, gus] = [
      await world.member(orgId, 'Eve', 'member'),
      await world.member(orgId, 'Finn', 'member'),
      await world.member(orgId, 'Gus', 'member'),
    ];
    await arrangeRole(world, orgId, place.projectId, idOf(dan), 'lead');
    await arrangeRole(world, orgId, place.projectId, idOf(finn), 'contributor');
    for (const [name, who, role] of [
      ['Leads', eve, 'lead'],
      ['Others', gus, 'viewer'],
    ] as const) {
      const team = await arrangeTeam(world, orgId, name, idOf(who));
      await world.rows(
        'insert into project_teams (org_id, project_id, team_id, role) values ($1, $2, $3, $4)',
        orgId,
        place.projectId,
        team,
        role,
      );
    }
    await emitEvents(chloe, requested(chloe));
    expect(await listNotified()).toEqual([
      ['Dan', 'access_requested', 'Chloé asks for access to HID as contributor'],
      ['Eve', 'access_requested', 'Chloé asks for access to HID as contributor'],
    ]);
  });

  it('is asked of the owner and the admins where nobody leads it any more', async () => {
    const { orgId, chloe, dan } = people;
    await arrangeRole(world, orgId, place.projectId, idOf(dan), 'lead');
    await world.rows(`update members set status = 'removed' where org_id = $1 and id = $2`, orgId, idOf(dan));
    await emitEvents(chloe, requested(chloe));
    expect(await listNotifiedNames()).toEqual(['Ana: access_requested', 'Ben: access_requested']);
  });

  it('is no longer asked once one of them decided', async () => {
    const { ana, ben, chloe, dan } = people;
    await emitEvents(chloe, requested(chloe));
    await emitEvents(dan, requested(dan));
    const unread = async (who: PersonOf<typeof world>) =>
      (await who.notifications.unreadCount()).byKind.access_requested;
    expect([await unread(ana), await unread(ben)]).toEqual([2, 2]);
    await emitEvents(ana, resolved(chloe, 'approve'));
    expect([await unread(ana), await unread(ben)]).toEqual([1, 1]);
  });

  it('is answered to who asked: with the project where they may see it', async () => {
    await arrangeRole(world, people.orgId, place.projectId, idOf(people.chloe), 'contributor');
    await emitEvents(people.ana, resolved(people.chloe, 'approve'));
    const { items } = await people.chloe.notifications.list();
    expect(items).toMatchObject([
      {
        kind: 'access_resolved',
        title: 'Ana gave you access to HID as contributor',
        subject: { key: 'HID' },
      },
    ]);
    // Chloé already has another role in the project, so the notification about the denied role may name the
    // project.
    await emitEvents(people.ana, resolved(people.chloe, 'deny'));
    expect((await listNotified()).map(([, , title]) => title)).toContain('Ana denied you access to HID');
  });

  it('tells who was turned away no more than they knew', async () => {
    await emitEvents(people.ana, resolved(people.chloe, 'deny'));
    const { items } = await people.chloe.notifications.list();
    expect(items).toMatchObject([
      {
        title: 'Ana denied you access to a project you asked for',
        subject: { type: 'project', id: place.projectId, key: null, title: 'a project' },
      },
    ]);
    expect(JSON.stringify(items)).not.toContain('HID');
  });
});

describe('people and seats', () => {
  const invitation = (): Subject => ({
    type: 'invitation',
    id: newId(),
    key: null,
    title: 'eve@example.com',
    projectId: null,
  });
  const seats = (count: number) =>
    world.rows('update subscriptions set seats = $2 where org_id = $1', people.orgId, count);
  const invited = (role = 'member'): EmittedEvent => ({
    kind: 'invitation.created',
    subject: invitation(),
    data: { role },
  });

  it('tells who invited that somebody came', async () => {
    const eve = await world.member(people.orgId, 'Eve', 'member');
    const accepted = (invitedBy: string | null): EmittedEvent => ({
      kind: 'invitation.accepted',
      subject: invitation(),
      data: { memberId: idOf(eve), invitedBy },
    });
    await emitEvents(eve, accepted(idOf(people.ben)), accepted(null));
    expect(await listNotified()).toEqual([['Ben', 'invitation_accepted', 'Eve accepted your invitation']]);
  });

  it('tells the owner and the admins when no seat is left, and once until they read it', async () => {
    const { ana, ben, orgId } = people;
    await seats(4);
    await emitEvents(ben, invited());
    expect(await listNotified()).toEqual([]);
    await world.rows(
      `insert into invitations (org_id, id, email, role, invited_by, expires_at) values ($1, $2, 'eve@example.com', 'member', '{}', now() + interval '1 day')`,
      orgId,
      newId(),
    );
    await emitEvents(ben, invited());
    expect(await listNotified()).toEqual([['Ana', 'seat_limit', 'All seats are taken']]);
    await emitEvents(ben, { kind: 'invitation.renewed', subject: invitation(), data: {} });
    expect(await listNotifiedNames()).toEqual(['Ana: seat_limit']);
    await ana.notifications.markAllRead();
    await emitEvents(ben, {
      kind: 'member.roleChanged',
      subject: invitation(),
      data: { from: 'viewer', to: 'member' },
    });
    expect(await listNotifiedNames()).toEqual(['Ana: seat_limit', 'Ana: seat_limit']);
  });

  it('tells nobody where no seat was taken', async () => {
    const { ben } = people;
    await seats(3);
    await emitEvents(
      ben,
      invited('viewer'),
      { kind: 'member.roleChanged', subject: invitation(), data: { from: 'member', to: 'viewer' } },
      { kind: 'seats.changed', subject: invitation(), data: { from: 3, to: 4 } },
    );
    expect(await listNotified()).toEqual([]);
    await emitEvents(ben, { kind: 'seats.changed', subject: invitation(), data: { from: 4, to: 3 } });
    expect(await listNotifiedNames()).toEqual(['Ana: seat_limit']);
  });
});
