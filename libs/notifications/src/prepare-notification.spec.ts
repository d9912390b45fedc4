import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeStory, arrangeRole, type ArrangedStory, createEmitHandler } from '../test/events.ts';
import { type BundledMessage, bundleNotification } from './data/bundles.ts';
import { notificationReaction } from './notify.ts';
import { broadcasts } from './operations/broadcasts/handlers.ts';
import { notifications } from './operations/notifications/handlers.ts';
import { type PreparedMessages, prepareNotification } from './prepare-notification.ts';

const world = useWorld({ broadcasts, notifications }, [notificationReaction]);

let people: PeopleOf<typeof world>;
let place: ArrangedStory;
beforeEach(async () => {
  people = await world.org();
  place = await arrangeStory(world, people.orgId, people.ana.me.memberId);
});

/** Prepares the messages of a member's only notification. */
async function prepared(who: PersonOf<typeof world> = people.chloe): Promise<PreparedMessages | null> {
  const [row] = await world.rows<{ id: string }>(
    'select id from notifications where org_id = $1 and member_id = $2',
    people.orgId,
    who.me.memberId,
  );
  return prepare(row?.id ?? '');
}
async function prepare(
  id: string,
  caller: PersonOf<typeof world> = people.ana,
): Promise<PreparedMessages | null> {
  let delivery: PreparedMessages | null = null;
  const looking = createEmitHandler([], async ({ db }) => {
    delivery = await prepareNotification(db, id);
  });
  await world.call(caller, looking, {});
  return delivery;
}
const mention = (where: ArrangedStory = place, author: PersonOf<typeof world> = people.ana) =>
  world.call(
    author,
    createEmitHandler([
      {
        kind: 'comment.created',
        subject: where.story,
        data: {
          commentId: newId(),
          parentId: null,
          kind: 'comment',
          directedTo: null,
          mentions: [people.chloe.me.memberId],
        },
      },
    ]),
    {},
  );
const device = (name: string, pushToken: string | null) =>
  world.rows(
    `insert into devices (org_id, member_id, device_id, id, name, platform, push_token, token_id)
       values ($1, $2, $3, $4, $3, 'ios', $5, (select t.id from tokens t where t.org_id = $1 and t.member_id = $2 limit 1))`,
    people.orgId,
    people.chloe.me.memberId,
    name,
    newId(),
    pushToken,
  );

describe('what goes out of a notification', () => {
  it('is an e-mail, and a push to each device that takes one', async () => {
    await device('phone', 'token-1');
    await device('tablet', 'token-2');
    await device('laptop', null);
    await mention();
    expect(await prepared()).toEqual({
      email: {
        to: 'chloe@example.com',
        subject: '[Acme] Ana mentioned you on WEB-7',
        text: 'Ana mentioned you on WEB-7\n\nPasskeys\n\nYou get this as a member of Acme on Muster.',
        isReplyable: true,
      },
      push: {
        devices: ['token-1', 'token-2'].map((token) => ({ id: expect.any(String), platform: 'ios', token })),
        ...{
          title: 'Ana mentioned you on WEB-7',
          body: 'Passkeys',
          text: 'Passkeys',
          storyKey: 'WEB-7',
          question: null,
        },
      },
    });
  });

  it('is no push to a device whose token was revoked or has expired', async () => {
    for (const ending of ['revoked_at = now()', "expires_at = now() - interval '1 s'"]) {
      const { me } = await world.token(people.orgId, people.chloe.me.memberId);
      await device(ending.slice(0, 7), ending);
      const ended = 'hash = sha256($1::bytea)';
      await world.rows(
        `update devices set token_id = (select id from tokens where ${ended}) where push_token = $2`,
        Buffer.from(me.token),
        ending,
      );
      await mention();
      expect((await prepared())?.push?.devices).toMatchObject([{ token: ending }]);
      await world.rows(`update tokens set ${ending} where ${ended}`, Buffer.from(me.token));
      await mention();
      expect((await prepared())?.push).toBeUndefined();
    }
  });

  it('is no push where there is no device, and what the member wants by now', async () => {
    const { chloe } = people;
    await mention();
    expect(Object.keys((await prepared()) ?? {})).toEqual(['email']);
    await device('phone', 'token');
    const set = (channel: 'email' | 'push', enabled: boolean) =>
      chloe.notifications.setPreference({ kind: 'mention', channel, enabled });
    await set('email', false);
    expect(Object.keys((await prepared()) ?? {})).toEqual(['push']);
    await set('push', false);
    expect(await prepared()).toBeNull();
  });

  it('is nothing once it was read, or the member or the right to see it is gone', async () => {
    const { ana, chloe, orgId } = people;
    const hidden = await arrangeStory(world, orgId, ana.me.memberId, { key: 'HID', visibility: 'private' });
    await arrangeRole(world, orgId, hidden.projectId, chloe.me.memberId, 'viewer');
    await mention(hidden);
    expect(await prepared()).not.toBeNull();
    await world.rows('delete from project_members where org_id = $1', orgId);
    expect(await prepared()).toBeNull();
    await arrangeRole(world, orgId, hidden.projectId, chloe.me.memberId, 'viewer');
    await chloe.notifications.markAllRead();
    expect(await prepared()).toBeNull();
    await world.rows('update notifications set read_at = null where org_id = $1', orgId);
    expect(await prepared()).not.toBeNull();
    await world.rows(
      `update members set status = 'removed' where org_id = $1 and id = $2`,
      orgId,
      chloe.me.memberId,
    );
    expect(await prepared()).toBeNull();
    expect(await prepare(newId())).toBeNull();
  });

  it('is nothing to another organization', async () => {
    await mention();
    const [row] = await world.rows<{ id: string }>(
      'select id from notifications where org_id = $1',
      people.orgId,
    );
    const foreign = await world.org();
    expect(await prepare(row?.id ?? '', foreign.ana)).toBeNull();
  });

  it('has the whole of a broadcast', async () => {
    const { ana, chloe } = people;
    await chloe.notifications.setPreference({ kind: 'broadcast', channel: 'email', enabled: true });
    const message = 'word '.repeat(700).trim();
    await ana.broadcasts.send({ message });
    expect((await prepared())?.email?.text).toContain(message);
  });
});

describe('notifications of one author to one member', () => {
  const ids = () =>
    world
      .rows<{ id: string }>(
        'select id from notifications where org_id = $1 and member_id = $2 order by id',
        people.orgId,
        people.chloe.me.memberId,
      )
      .then((rows) => rows.map(({ id }) => id));
  const bundleAll = async (notificationIds: readonly string[]): Promise<BundledMessage[]> => {
    const bundled: BundledMessage[] = [];
    const bundling = createEmitHandler([], async ({ db }) => {
      for (const id of notificationIds)
        bundled.push(await bundleNotification(db, id, { burst: 5, seconds: 120 }));
    });
    await world.call(people.ana, bundling, {});
    return bundled;
  };

  it('go out at once five times in ten minutes, and the rest in one message', async () => {
    for (let count = 0; count < 8; count += 1) await mention();
    const bundled = await bundleAll(await ids());
    expect(bundled.map(({ isLeading }) => isLeading)).toEqual([
      ...[true, true, true, true, true],
      ...[true, false, false],
    ]);
    const [first, , , , , sixth, , last] = bundled;
    expect(Date.parse(sixth?.sendsAt ?? '') - Date.parse(first?.sendsAt ?? '')).toBe(10 * 60_000);
    expect(last?.sendsAt).toEqual(sixth?.sendsAt);
    const delivery = await prepare((await ids())[5] ?? '');
    expect(delivery?.email).toMatchObject({ subject: '[Acme] 3 notifications from Ana' });
    expect(delivery?.email?.text.match(/Ana mentioned you on WEB-7/g)).toHaveLength(3);
  });

  it('are shown up to fifty in a message, which says how many more there are', async () => {
    for (let count = 0; count < 6; count += 1) await mention();
    const notificationIds = await ids();
    await bundleAll(notificationIds);
    const leading = notificationIds[5] ?? '';
    await device('phone', 'token-1');
    await world.rows(
      `insert into notifications (org_id, id, member_id, kind, title, body, subject, actor, project_id, created_at, in_inbox, sent_with, sends_at)
       select org_id, gen_random_uuid(), member_id, kind, title, body, subject, actor, project_id, created_at, in_inbox, sent_with, sends_at
       from notifications, generate_series(1, 99) where id = $1`,
      leading,
    );
    const delivery = await prepare(leading);
    expect(delivery?.email?.subject).toBe('[Acme] 100 notifications from Ana');
    expect(delivery?.email?.text.match(/Ana mentioned you on WEB-7/g)).toHaveLength(50);
    expect(delivery?.email?.text).toContain('And 50 more in your inbox.');
    expect(delivery?.push).toMatchObject({ title: '100 notifications from Ana', body: 'Passkeys' });
  });

  it('that were read meanwhile are left out of the message, and others go out without it', async () => {
    for (let count = 0; count < 7; count += 1) await mention();
    const notificationIds = await ids();
    await bundleAll(notificationIds);
    const [leading = '', following = ''] = notificationIds.slice(5);
    await world.rows('update notifications set read_at = now() where id = $1', leading);
    expect((await prepare(leading))?.email?.subject).toBe('[Acme] Ana mentioned you on WEB-7');
    await world.rows('update notifications set read_at = now() where id = $1', following);
    expect(await prepare(leading)).toBeNull();
  });

  it('do not delay those of another author', async () => {
    for (let count = 0; count < 6; count += 1) await mention();
    await mention(place, people.ben);
    const bundled = await bundleAll(await ids());
    const [ofAna, ofBen] = bundled.slice(-2);
    expect(ofBen?.isLeading).toBe(true);
    expect(Date.parse(ofBen?.sendsAt ?? '')).toBeLessThan(Date.parse(ofAna?.sendsAt ?? ''));
  });
});
