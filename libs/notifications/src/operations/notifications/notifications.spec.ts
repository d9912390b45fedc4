import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { notificationKinds, type NotificationKind } from '@muster/contract';
import { notificationsRegistry } from '@muster/notifications-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import {
  arrangeStory,
  arrangeRole,
  type ArrangedStory,
  type EmittedEvent,
  createEmitHandler,
} from '../../../test/events.ts';
import { maxMarkedPerStatement } from '../../data/notifications.ts';
import { notificationReaction } from '../../notify.ts';
import { notifications } from './handlers.ts';

const world = useWorld({ notifications }, [notificationReaction]);

let people: PeopleOf<typeof world>;
let place: ArrangedStory;
beforeEach(async () => {
  people = await world.org();
  place = await arrangeStory(world, people.orgId, people.ana.me.memberId);
});

const about = ({ story }: ArrangedStory, memberId: string): Record<'mention' | 'assigned', EmittedEvent> => ({
  mention: {
    kind: 'comment.created',
    subject: story,
    data: { commentId: newId(), parentId: null, kind: 'comment', directedTo: null, mentions: [memberId] },
  },
  assigned: {
    kind: 'assignment.changed',
    subject: story,
    data: { memberId, agentId: null, previousMemberId: null, previousAgentId: null },
  },
});

/** Ana causes notifications of these kinds for a member, with one operation each. */
async function emitKinds(
  who: PersonOf<typeof world>,
  kinds: readonly ('mention' | 'assigned')[],
  where = place,
): Promise<void> {
  for (const kind of kinds)
    await world.call(people.ana, createEmitHandler([about(where, who.me.memberId)[kind]]), {});
}
const listIds = async (
  who: PersonOf<typeof world>,
  params: { unreadOnly?: boolean; kinds?: NotificationKind[] } = {},
) => (await who.notifications.list(params)).items.map((item) => item.id);
const countUnread = async (who: PersonOf<typeof world>) => (await who.notifications.unreadCount()).unread;

describe('notifications.list', () => {
  it('pages through the inbox, newest first, whatever comes meanwhile', async () => {
    const { chloe } = people;
    await emitKinds(chloe, ['mention', 'assigned', 'mention', 'assigned', 'mention']);
    const all = await chloe.notifications.list();
    expect(notificationsRegistry.notifications.list.result.parse(all)).toEqual(all);
    expect(all.items.map((item) => item.createdAt)).toEqual(
      all.items.map((item) => item.createdAt).sort((a, b) => b.localeCompare(a)),
    );
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await chloe.notifications.list({ limit: 2, ...(cursor !== undefined && { cursor }) });
      seen.push(...page.items.map((item) => item.id));
      cursor = page.nextCursor ?? undefined;
      await emitKinds(chloe, ['mention']);
    } while (cursor !== undefined);
    expect(seen).toEqual(all.items.map((item) => item.id));
  });

  it('shows what was asked for: the unread, some kinds, or both', async () => {
    const { chloe } = people;
    await emitKinds(chloe, ['mention', 'assigned', 'mention', 'assigned']);
    const [assigned, mention, olderAssigned, olderMention] = await listIds(chloe);
    await chloe.notifications.markRead({ notificationIds: [mention ?? '', olderAssigned ?? ''] });
    expect(await listIds(chloe, { unreadOnly: true })).toEqual([assigned, olderMention]);
    expect(await listIds(chloe, { kinds: ['mention'] })).toEqual([mention, olderMention]);
    expect(await listIds(chloe, { kinds: ['mention', 'assigned', 'mention'] })).toEqual(await listIds(chloe));
    expect(await listIds(chloe, { kinds: ['mention'], unreadOnly: true })).toEqual([olderMention]);
    expect(await listIds(chloe, { kinds: ['handoff'] })).toEqual([]);
    const page = await chloe.notifications.list({ kinds: ['mention', 'assigned'], limit: 3 });
    expect(page.items.map((item) => item.id)).toEqual([assigned, mention, olderAssigned]);
    const rest = await chloe.notifications.list({
      kinds: ['mention', 'assigned'],
      limit: 3,
      cursor: page.nextCursor ?? '',
    });
    expect([rest.items.map((item) => item.id), rest.nextCursor]).toEqual([[olderMention], null]);
  });

  it("is the caller's own, also for a viewer, and the member's for an agent that the member let", async () => {
    const { chloe, dan, orgId } = people;
    await emitKinds(chloe, ['mention']);
    await emitKinds(dan, ['assigned']);
    const reader = await world.token(orgId, chloe.me.memberId, { agent: 'Reader', mayReadInbox: true });
    expect((await reader.notifications.list()).items).toEqual((await chloe.notifications.list()).items);
    expect((await dan.notifications.list()).items.map((item) => item.kind)).toEqual(['assigned']);
  });

  it('is closed to an agent that the member did not let, and to be changed by no agent', async () => {
    const { chloe, robo, orgId } = people;
    await emitKinds(chloe, ['mention']);
    const [one = ''] = await listIds(chloe);
    const refused = { status: 403, reason: 'agents_may_not' };
    for (const read of [
      () => robo.notifications.list(),
      () => robo.notifications.unreadCount(),
      () => robo.notifications.listPreferences(),
    ])
      await expect(read()).rejects.toMatchObject(refused);
    const reader = await world.token(orgId, chloe.me.memberId, { agent: 'Reader', mayReadInbox: true });
    for (const agent of [robo, reader])
      for (const write of [
        () => agent.notifications.markRead({ notificationIds: [one] }),
        () => agent.notifications.markAllRead(),
        () => agent.notifications.setPreference({ kind: 'mention', channel: 'email', enabled: false }),
      ])
        await expect(write()).rejects.toMatchObject(refused);
    expect(await countUnread(chloe)).toBe(1);
  });

  it('neither shows nor counts nor marks what is about a project that the member cannot see, as long as they cannot', async () => {
    const { chloe, dan, orgId } = people;
    const hidden = await arrangeStory(world, orgId, dan.me.memberId, { key: 'HID', visibility: 'private' });
    await arrangeRole(world, orgId, hidden.projectId, chloe.me.memberId, 'viewer');
    await emitKinds(chloe, ['mention']);
    await emitKinds(chloe, ['mention', 'assigned'], hidden);
    const [secret = '', ...others] = await listIds(chloe);
    expect(others).toHaveLength(2);
    await world.rows('delete from project_members where org_id = $1', orgId);
    const filters: { unreadOnly?: boolean; kinds?: NotificationKind[] }[] = [
      {},
      { unreadOnly: true },
      { kinds: ['mention'] },
    ];
    for (const filter of filters) {
      expect(await listIds(chloe, filter)).toEqual([others[1]]);
    }
    expect(await chloe.notifications.unreadCount()).toMatchObject({
      unread: 1,
      byKind: { mention: 1, assigned: 0 },
    });
    await expect(chloe.notifications.markRead({ notificationIds: [secret] })).rejects.toMatchObject({
      status: 404,
    });
    expect(await chloe.notifications.markAllRead()).toEqual({ updated: 1, unread: 0 });
    await arrangeRole(world, orgId, hidden.projectId, chloe.me.memberId, 'viewer');
    expect(await listIds(chloe, { unreadOnly: true })).toEqual([secret, others[0]]);
    expect(await countUnread(chloe)).toBe(2);
  });

  it('shows a token that is bound to projects what is about those, and about none', async () => {
    const { ana, chloe, orgId } = people;
    const other = await arrangeStory(world, orgId, ana.me.memberId, { key: 'APP' });
    await emitKinds(chloe, ['mention']);
    await emitKinds(chloe, ['assigned'], other);
    const bound = await world.token(orgId, chloe.me.memberId, { projectIds: [other.projectId] });
    expect((await bound.notifications.list()).items.map((item) => item.kind)).toEqual(['assigned']);
    expect(await countUnread(bound)).toBe(1);
  });

  it('forgets a project with the project', async () => {
    const { chloe, orgId } = people;
    await emitKinds(chloe, ['mention']);
    await world.rows('delete from stories where org_id = $1', orgId);
    await world.rows('delete from projects where org_id = $1', orgId);
    expect(await listIds(chloe)).toEqual([]);
    expect(await countUnread(chloe)).toBe(0);
    expect(await world.rows('select 1 from notification_counts where org_id = $1', orgId)).toEqual([]);
  });
});

describe('notifications.unreadCount', () => {
  it('counts every kind', async () => {
    const { chloe, dan } = people;
    await emitKinds(chloe, ['mention', 'assigned', 'mention']);
    const none = Object.fromEntries(notificationKinds.map((kind) => [kind, 0]));
    expect(await chloe.notifications.unreadCount()).toEqual({
      unread: 3,
      byKind: { ...none, mention: 2, assigned: 1 },
    });
    expect(await dan.notifications.unreadCount()).toEqual({ unread: 0, byKind: none });
  });
});

describe('notifications.markRead', () => {
  it('marks each once, at the time of the database', async () => {
    const { chloe } = people;
    await emitKinds(chloe, ['mention', 'mention', 'mention']);
    const [newest = '', second = ''] = await listIds(chloe);
    expect(await chloe.notifications.markRead({ notificationIds: [newest, newest] })).toEqual({
      updated: 1,
      unread: 2,
    });
    const [before] = (await chloe.notifications.list()).items;
    expect(before?.readAt).toEqual(expect.any(String));
    expect(await chloe.notifications.markRead({ notificationIds: [second, newest] })).toEqual({
      updated: 1,
      unread: 1,
    });
    expect((await chloe.notifications.list()).items[0]).toEqual(before);
  });

  it("marks nothing where one is not the caller's", async () => {
    const { chloe, dan } = people;
    const foreign = await world.org();
    await emitKinds(chloe, ['mention']);
    await emitKinds(dan, ['mention']);
    const [mine = ''] = await listIds(chloe);
    const [theirs = ''] = await listIds(dan);
    for (const other of [theirs, newId()]) {
      await expect(chloe.notifications.markRead({ notificationIds: [mine, other] })).rejects.toMatchObject({
        status: 404,
      });
    }
    await expect(foreign.ana.notifications.markRead({ notificationIds: [mine] })).rejects.toMatchObject({
      status: 404,
    });
    expect([await countUnread(chloe), await countUnread(dan)]).toEqual([1, 1]);
    expect(await listIds(chloe, { unreadOnly: true })).toEqual([mine]);
  });

  it('counts once what two mark at once', async () => {
    const { chloe, orgId } = people;
    const phone = await world.token(orgId, chloe.me.memberId);
    await emitKinds(chloe, ['mention', 'mention', 'mention']);
    const [one = '', two = '', three = ''] = await listIds(chloe);
    const outcomes = await world.runUnderContention(
      { table: 'notifications', id: [one, two, three] },
      () => chloe.notifications.markRead({ notificationIds: [one, two] }),
      () => phone.notifications.markRead({ notificationIds: [two, one] }),
      () => chloe.notifications.markAllRead(),
    );
    const answers = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : { updated: NaN, unread: NaN },
    );
    expect(answers.reduce((sum, { updated }) => sum + updated, 0)).toBe(3);
    expect(await countUnread(chloe)).toBe(0);
    expect(
      await world.rows('select unread from notification_counts where org_id = $1', people.orgId),
    ).toEqual([{ unread: 0 }]);
  });

  it('loses no count of what arrives while it marks', async () => {
    const { chloe } = people;
    await emitKinds(chloe, ['mention', 'mention']);
    const [one = ''] = await listIds(chloe);
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'notification_counts', id: chloe.me.memberId, column: 'member_id' },
      () => chloe.notifications.markRead({ notificationIds: [one] }),
      () => emitKinds(chloe, ['mention']),
      () => emitKinds(chloe, ['mention']),
    );
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(await countUnread(chloe)).toBe(3);
    expect(await listIds(chloe, { unreadOnly: true })).toHaveLength(3);
  });
});

describe('notifications.markAllRead', () => {
  it('writes each count once, however much it marks', async () => {
    const { chloe, orgId } = people;
    await emitKinds(chloe, ['mention', 'mention', 'mention', 'mention', 'assigned', 'assigned']);
    const counts = () =>
      world.rows<{ kind: string; unread: number; changes: number }>(
        'select kind, unread, changes from notification_counts where org_id = $1 and member_id = $2 order by kind',
        ...[orgId, chloe.me.memberId],
      );
    expect(await counts()).toEqual([
      { kind: 'assigned', unread: 2, changes: 2 },
      { kind: 'mention', unread: 4, changes: 4 },
    ]);
    expect(await chloe.notifications.markAllRead()).toEqual({ updated: 6, unread: 0 });
    expect(await counts()).toEqual([
      { kind: 'assigned', unread: 0, changes: 3 },
      { kind: 'mention', unread: 0, changes: 5 },
    ]);
  });

  it('and whatever else marks leaves the counts right', async () => {
    const { chloe, orgId } = people;
    await emitKinds(chloe, ['mention', 'mention', 'assigned']);
    await world.rows(
      `update notifications set read_at = now() where org_id = $1 and kind = 'mention'`,
      orgId,
    );
    expect(await countUnread(chloe)).toBe(1);
  });

  it('marks what there is, and again nothing', async () => {
    const { chloe, dan } = people;
    await emitKinds(chloe, ['mention', 'assigned']);
    await emitKinds(dan, ['mention']);
    expect(await chloe.notifications.markAllRead()).toEqual({ updated: 2, unread: 0 });
    expect(await chloe.notifications.markAllRead()).toEqual({ updated: 0, unread: 0 });
    expect(await countUnread(dan)).toBe(1);
  });

  it('marks more than one statement does', async () => {
    const { chloe, orgId } = people;
    await world.rows(
      `insert into notifications (org_id, id, member_id, kind, title, actor, created_at)
       select $1, app.new_id(now()), $2, 'mention', 'x', '{}', now() from generate_series(1, $3::int)`,
      orgId,
      chloe.me.memberId,
      maxMarkedPerStatement + 1,
    );
    expect(await chloe.notifications.markAllRead()).toEqual({
      updated: maxMarkedPerStatement + 1,
      unread: 0,
    });
  });

  it('leaves what came after the moment', async () => {
    const { chloe } = people;
    await emitKinds(chloe, ['mention', 'mention']);
    await world.rows(
      `update notifications set created_at = created_at - interval '1 hour' where org_id = $1 and id = $2`,
      people.orgId,
      (await listIds(chloe))[1],
    );
    const [newer, older] = (await chloe.notifications.list()).items;
    expect(await chloe.notifications.markAllRead({ before: older?.createdAt ?? '' })).toEqual({
      updated: 1,
      unread: 1,
    });
    expect(await listIds(chloe, { unreadOnly: true })).toEqual([newer?.id]);
  });
});

describe('notifications.snooze', () => {
  const soon = (ms = 60_000) => new Date(Date.now() + ms).toISOString();
  const counts = async (who: PersonOf<typeof world>) => (await who.notifications.unreadCount()).byKind;
  /** Lets the time of all snoozed notifications come. The stored time is rounded to milliseconds. */
  const comeDue = () => world.rows(`update notification_snoozes set until = now() - interval '1 ms'`);

  it('hides them from the list and the counts until their time, then they are unread', async () => {
    const { chloe } = people;
    await emitKinds(chloe, ['mention', 'assigned', 'mention']);
    const [third = '', second = '', first = ''] = await listIds(chloe);
    await chloe.notifications.markRead({ notificationIds: [second] });
    const until = soon();
    expect(await chloe.notifications.snooze({ notificationIds: [third, second, third], until })).toEqual({
      updated: 2,
      unread: 1,
    });
    expect(await listIds(chloe)).toEqual([first]);
    expect(await listIds(chloe, { unreadOnly: true, kinds: ['mention'] })).toEqual([first]);
    expect(await counts(chloe)).toMatchObject({ mention: 1, assigned: 0 });
    const hidden = (await chloe.notifications.list({ snoozed: true })).items;
    expect(hidden).toMatchObject([
      { id: third, readAt: null, snoozedUntil: until },
      { id: second, readAt: null, snoozedUntil: until },
    ]);
    await comeDue();
    expect(await listIds(chloe, { unreadOnly: true })).toEqual([third, second, first]);
    expect(await counts(chloe)).toMatchObject({ mention: 2, assigned: 1 });
    expect((await chloe.notifications.list({ snoozed: true })).items).toEqual([]);
  });

  it('brings them back with null, takes another time, and shows them once they are read', async () => {
    const { chloe } = people;
    await emitKinds(chloe, ['mention', 'assigned']);
    const [newer = '', older = ''] = await listIds(chloe);
    const snooze = (id: string, until: string | null) =>
      chloe.notifications.snooze({ notificationIds: [id], until });
    await snooze(newer, soon());
    const later = soon(3_600_000);
    expect(await snooze(newer, later)).toEqual({ updated: 1, unread: 1 });
    expect((await chloe.notifications.list({ snoozed: true })).items).toMatchObject([
      { snoozedUntil: later },
    ]);
    expect(await snooze(newer, null)).toEqual({ updated: 1, unread: 2 });
    expect(await snooze(newer, null)).toEqual({ updated: 0, unread: 2 });
    await snooze(older, later);
    expect(await chloe.notifications.markRead({ notificationIds: [older] })).toEqual({
      updated: 1,
      unread: 1,
    });
    expect(await listIds(chloe)).toEqual([newer, older]);
  });

  it('is left alone by marking all as read', async () => {
    const { chloe } = people;
    await emitKinds(chloe, ['mention', 'assigned']);
    const [newer = ''] = await listIds(chloe);
    await chloe.notifications.snooze({ notificationIds: [newer], until: soon() });
    expect(await chloe.notifications.markAllRead()).toEqual({ updated: 1, unread: 0 });
    await comeDue();
    expect(await listIds(chloe, { unreadOnly: true })).toEqual([newer]);
    expect(await countUnread(chloe)).toBe(1);
  });

  it('refuses a time that is over or too far away, what is not in the inbox, and too many', async () => {
    const { chloe, ben } = people;
    await emitKinds(chloe, ['mention']);
    const [id = ''] = await listIds(chloe);
    const snooze = (who: PersonOf<typeof world>, until: string) =>
      who.notifications.snooze({ notificationIds: [id], until });
    for (const until of [soon(-60_000), soon(400 * 86_400_000)])
      await expect(snooze(chloe, until)).rejects.toMatchObject({
        status: 400,
        body: { details: { issues: [{ path: 'until' }] } },
      });
    await expect(snooze(ben, soon())).rejects.toMatchObject({ status: 404 });
    await expect(snooze(people.robo, soon())).rejects.toMatchObject({ status: 403 });
    await world.rows(
      `with n as (insert into notifications (org_id, id, member_id, kind, title, actor, created_at)
         select $1, gen_random_uuid(), $2, 'assigned', 'x', '{}', now() from generate_series(1, 500) returning org_id, id, member_id)
       insert into notification_snoozes (org_id, notification_id, member_id, until)
         select org_id, id, member_id, now() + interval '1 hour' from n`,
      people.orgId,
      chloe.me.memberId,
    );
    await expect(snooze(chloe, soon())).rejects.toMatchObject({
      status: 422,
      body: { details: { reason: 'limit_exceeded', limit: 500 } },
    });
    expect(await listIds(chloe, { unreadOnly: true })).toEqual([id]);
  });

  it('keeps the counts right, whatever is marked at the same time', async () => {
    const { chloe } = people;
    await emitKinds(chloe, ['mention', 'assigned', 'mention']);
    const notificationIds = await listIds(chloe);
    await world.runUnderContention(
      { table: 'notifications', id: notificationIds[2] ?? '' },
      () => chloe.notifications.snooze({ notificationIds, until: soon() }),
      () => chloe.notifications.markAllRead(),
    );
    await comeDue();
    const shown = (await chloe.notifications.list({ unreadOnly: true })).items;
    expect(await countUnread(chloe)).toBe(shown.length);
  });
});

describe('preferences', () => {
  it('are the defaults until they are set, and only what differs is kept', async () => {
    const { chloe, dan, orgId } = people;
    const { items, nextCursor } = await chloe.notifications.listPreferences();
    expect([items.map((item) => item.kind), nextCursor]).toEqual([[...notificationKinds], null]);
    expect(items.every((item) => item.channels.inbox)).toBe(true);
    expect(items.find((item) => item.kind === 'mention')?.channels).toEqual({
      inbox: true,
      email: true,
      push: true,
      digest: false,
    });
    const set = (enabled: boolean) =>
      chloe.notifications.setPreference({ kind: 'broadcast', channel: 'email', enabled });
    for (const turn of [true, true]) {
      expect(await set(turn)).toEqual({
        preference: { kind: 'broadcast', channels: { inbox: true, email: true, push: false, digest: false } },
      });
    }
    const changed = (await chloe.notifications.listPreferences()).items;
    expect(changed.filter((item, index) => item.channels.email !== items[index]?.channels.email)).toEqual([
      { kind: 'broadcast', channels: { inbox: true, email: true, push: false, digest: false } },
    ]);
    expect((await dan.notifications.listPreferences()).items).toEqual(items);
    await set(false);
    expect((await chloe.notifications.listPreferences()).items).toEqual(items);
    expect(await world.rows('select 1 from notification_preferences where org_id = $1', orgId)).toEqual([]);
  });

  it('come in pages like any list', async () => {
    const { chloe } = people;
    const { items } = await chloe.notifications.listPreferences();
    const seen: unknown[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await chloe.notifications.listPreferences({ limit: 5, ...(cursor && { cursor }) });
      expect(page.items.length).toBeLessThanOrEqual(5);
      seen.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(items);
    await expect(chloe.notifications.listPreferences({ cursor: 'x' })).rejects.toMatchObject({ status: 400 });
  });

  it('take two channels of a kind that are set at once', async () => {
    const { chloe } = people;
    await Promise.all(
      (['email', 'push'] as const).map((channel) =>
        chloe.notifications.setPreference({ kind: 'review_verdict', channel, enabled: true }),
      ),
    );
    const { items } = await chloe.notifications.listPreferences();
    expect(items.find((item) => item.kind === 'review_verdict')?.channels).toEqual({
      inbox: true,
      email: true,
      push: true,
      digest: false,
    });
  });
});
