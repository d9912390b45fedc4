/**
 * Tests which notifications are written for the events of operations. Each test runs the whole pipeline with
 * the reaction that writes notifications.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId, currentOrgId, sql } from '@muster/driver';
import { type NotificationKind } from '@muster/contract';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import {
  arrangeStory,
  arrangeRole,
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
  place = await arrangeStory(world, people.orgId, people.ana.me.memberId);
});

const happen = (who: PersonOf<typeof world>, ...said: EmittedEvent[]) =>
  world.call(who, createEmitHandler(said), {});
const idOf = (who: PersonOf<typeof world>) => who.me.memberId;

const told = () => listNotifiedMembers(world, people.orgId);
const names = async () => namesOf(await told());

const comment = (
  data: Partial<Extract<EmittedEvent, { kind: 'comment.created' }>['data']> = {},
): EmittedEvent => ({
  kind: 'comment.created',
  subject: place.story,
  data: { commentId: newId(), parentId: null, kind: 'comment', directedTo: null, mentions: [], ...data },
});
const mentionEvent = (...who: PersonOf<typeof world>[]): EmittedEvent => comment({ mentions: who.map(idOf) });

async function arrangeComment(
  author: PersonOf<typeof world>,
  parentId: string | null = null,
  deleted = false,
) {
  const id = newId();
  await world.rows(
    `insert into comments (org_id, id, story_id, parent_id, kind, body, author, author_member_id, deleted_at)
     values ($1, $2, $3, $4, 'comment', case when $6 then null else 'x' end, '{}', $5, case when $6 then now() end)`,
    people.orgId,
    id,
    place.storyId,
    parentId,
    idOf(author),
    deleted,
  );
  return id;
}
const assign = (memberId: string | null, agentId: string | null) =>
  world.rows(
    `insert into assignments (org_id, target_type, target_id, project_id, member_id, agent_id) values ($1, 'story', $2, $3, $4, $5)`,
    people.orgId,
    place.storyId,
    place.projectId,
    memberId,
    agentId,
  );

describe('a story that members follow or mute', () => {
  const subscribe = (who: PersonOf<typeof world>, subscribed: boolean) =>
    world.rows(
      `insert into story_subscriptions (org_id, story_id, member_id, subscribed) values ($1, $2, $3, $4)`,
      people.orgId,
      place.storyId,
      idOf(who),
      subscribed,
    );
  const move = (): EmittedEvent => ({
    kind: 'story.statusChanged',
    subject: place.story,
    data: { from: 'ready', to: 'in_review', columnId: null },
  });

  it('tells followers of comments, verdicts and moves, but not of their own', async () => {
    const { ana, ben, chloe, dan } = people;
    for (const who of [ana, chloe]) await subscribe(who, true);
    await subscribe(dan, false);
    await happen(ana, move());
    await happen(ana, comment());
    await happen(ben, {
      kind: 'review.decided',
      subject: place.story,
      data: { verdict: 'approved', note: null },
    });
    expect(await names()).toEqual([
      'Ana: review_verdict',
      'Chloé: subscribed',
      'Chloé: subscribed',
      'Chloé: subscribed',
    ]);
    expect((await chloe.notifications.list()).items.map(({ title }) => title)).toEqual([
      'Ben approved WEB-7',
      'Ana commented on WEB-7',
      'Ana moved WEB-7 to In review',
    ]);
  });

  it('tells a follower once, by the more specific rule', async () => {
    await subscribe(people.chloe, true);
    await happen(people.ana, mentionEvent(people.chloe));
    expect(await names()).toEqual(['Chloé: mention']);
  });

  it('tells who muted it only what is addressed to them', async () => {
    const { ana, ben, chloe } = people;
    await subscribe(chloe, false);
    const root = await arrangeComment(chloe);
    await happen(ben, comment({ parentId: root }), move());
    expect(await names()).toEqual([]);
    await happen(ana, mentionEvent(chloe));
    expect(await names()).toEqual(['Chloé: mention']);
  });

  it('is about this story alone', async () => {
    const { ana, chloe } = people;
    const other = await arrangeStory(world, people.orgId, idOf(ana), { key: 'DOCS' });
    await subscribe(chloe, false);
    await world.rows(
      `insert into story_subscriptions (org_id, story_id, member_id, subscribed) values ($1, $2, $3, true)`,
      people.orgId,
      other.storyId,
      idOf(chloe),
    );
    await happen(ana, { ...move(), subject: other.story });
    expect(await names()).toEqual(['Chloé: subscribed']);
  });
});

describe('a mention', () => {
  it('is in the inbox with who, where and what', async () => {
    const { ana, chloe } = people;
    await happen(ana, mentionEvent(chloe));
    const { items } = await chloe.notifications.list();
    expect(items).toEqual([
      {
        id: expect.any(String),
        kind: 'mention',
        title: 'Ana mentioned you on WEB-7',
        body: 'Passkeys',
        subject: { type: 'story', id: place.storyId, key: 'WEB-7', title: 'Passkeys' },
        actor: { kind: 'member', memberId: idOf(ana), agentId: null, name: 'Ana' },
        readAt: null,
        snoozedUntil: null,
        createdAt: expect.any(String),
      },
    ]);
    expect((await ana.notifications.list()).items).toEqual([]);
  });

  it('of an edit tells those whom the event names', async () => {
    await happen(people.ana, {
      kind: 'comment.updated',
      subject: place.story,
      data: { commentId: newId(), mentions: [idOf(people.dan)] },
    });
    expect(await names()).toEqual(['Dan: mention']);
  });

  it('tells nobody of their own doing, nor whose agent did it, unless the agent means its own member', async () => {
    const { ana, chloe, robo } = people;
    await happen(chloe, mentionEvent(ana, chloe));
    expect(await names()).toEqual(['Ana: mention']);
    // Robo is an agent of Chloé.
    await happen(robo, comment({ parentId: await arrangeComment(chloe) }));
    expect(await names()).toEqual(['Ana: mention']);
    await happen(robo, comment({ kind: 'question', directedTo: idOf(chloe) }));
    expect(await told()).toEqual([
      ['Ana', 'mention', 'Chloé mentioned you on WEB-7'],
      ['Chloé', 'mention', 'Robo has a question for you on WEB-7'],
    ]);
  });

  it('leaves the inbox and its counts with its comment, read or not, and with its story', async () => {
    const { ana, chloe, dan } = people;
    const commentIds = [newId(), newId(), newId()];
    for (const commentId of commentIds)
      await happen(ana, comment({ commentId, mentions: [chloe, dan].map(idOf) }));
    const [, , oldest] = (await chloe.notifications.list()).items;
    await chloe.notifications.markRead({ notificationIds: [oldest?.id ?? ''] });
    const shown = async (who: PersonOf<typeof world>) => [
      (await who.notifications.list()).items.length,
      (await who.notifications.unreadCount()).unread,
    ];
    expect([await shown(chloe), await shown(dan)]).toEqual([
      [3, 2],
      [3, 3],
    ]);
    const deleted = (commentId: string | undefined): EmittedEvent => ({
      kind: 'comment.deleted',
      subject: place.story,
      data: { commentId: commentId ?? '' },
    });
    await happen(ana, deleted(commentIds[0]), deleted(commentIds[1]));
    expect([await shown(chloe), await shown(dan)]).toEqual([
      [1, 1],
      [1, 1],
    ]);
    await happen(ana, { kind: 'story.deleted', subject: place.story, data: {} });
    expect([await shown(chloe), await shown(dan)]).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it('is no longer unread for its other channels when it is withdrawn', async () => {
    const { ana, chloe } = people;
    for (const kind of ['mention', 'access_requested'] as const) {
      await chloe.notifications.setPreference({ kind, channel: 'inbox', enabled: false });
      await chloe.notifications.setPreference({ kind, channel: 'digest', enabled: true });
    }
    const counts = () => world.rows('select * from notification_counts where org_id = $1', people.orgId);
    const unread = () =>
      world.rows(
        `select from notifications where org_id = $1 and member_id = $2 and read_at is null`,
        people.orgId,
        idOf(chloe),
      );
    const commentId = newId();
    await happen(ana, comment({ commentId, mentions: [idOf(chloe)] }));
    await happen(ana, mentionEvent(chloe));
    const counted = await counts();
    expect(await unread()).toHaveLength(2);
    await happen(ana, { kind: 'comment.deleted', subject: place.story, data: { commentId } });
    expect(await unread()).toHaveLength(1);
    await happen(ana, { kind: 'story.deleted', subject: place.story, data: {} });
    expect(await unread()).toEqual([]);
    expect(await counts()).toEqual(counted);
  });

  it('in a private project tells only who has a role there', async () => {
    place = await arrangeStory(world, people.orgId, idOf(people.ana), { key: 'HID', visibility: 'private' });
    await arrangeRole(world, people.orgId, place.projectId, idOf(people.dan), 'viewer');
    await happen(people.ana, mentionEvent(people.ben, people.chloe, people.dan));
    expect(await names()).toEqual(['Ben: mention', 'Dan: mention']);
  });

  it('goes by the rights that the operation leaves', async () => {
    place = await arrangeStory(world, people.orgId, idOf(people.ana), { key: 'HID', visibility: 'private' });
    const join = createEmitHandler([mentionEvent(people.chloe)], ({ db }) => {
      db.deferToCommit(
        sql`insert into project_members (org_id, project_id, member_id, role)
          values (${currentOrgId}, ${place.projectId}, ${idOf(people.chloe)}, 'viewer')`,
      );
      return Promise.resolve();
    });
    await world.call(people.ana, join, {});
    expect(await names()).toEqual(['Chloé: mention']);
  });

  it('tells nobody who is gone, of another organization, or nobody', async () => {
    const { ana, chloe, dan, orgId } = people;
    const foreign = await world.org();
    await world.rows(`update members set status = 'removed' where org_id = $1 and id = $2`, orgId, idOf(dan));
    await happen(ana, comment({ mentions: [idOf(dan), idOf(foreign.ana), newId(), idOf(chloe)] }));
    expect(await names()).toEqual(['Chloé: mention']);
    expect((await foreign.ana.notifications.list()).items).toEqual([]);
  });
});

describe('a reply', () => {
  it('tells all who wrote in the thread, and those whom it mentions as mentioned', async () => {
    const { ana, ben, chloe, dan, orgId } = people;
    const eve = await world.member(orgId, 'Eve', 'member');
    const root = await arrangeComment(ana);
    for (const who of [ben, chloe, ben, dan]) await arrangeComment(who, root);
    await arrangeComment(eve);
    await happen(chloe, comment({ parentId: root, mentions: [idOf(dan)] }));
    expect(await told()).toEqual([
      ['Ana', 'comment_reply', 'Chloé replied on WEB-7'],
      ['Ben', 'comment_reply', 'Chloé replied on WEB-7'],
      ['Dan', 'mention', 'Chloé mentioned you on WEB-7'],
    ]);
  });

  it('tells the author of a deleted root no more', async () => {
    const root = await arrangeComment(people.ana, null, true);
    await arrangeComment(people.ben, root);
    await happen(people.chloe, comment({ parentId: root }));
    expect(await names()).toEqual(['Ben: comment_reply']);
  });
});

describe('an assignment', () => {
  const assigned = (
    data: Partial<Extract<EmittedEvent, { kind: 'assignment.changed' }>['data']>,
  ): EmittedEvent => ({
    kind: 'assignment.changed',
    subject: place.story,
    data: { memberId: null, agentId: null, previousMemberId: null, previousAgentId: null, ...data },
  });

  it('tells the member, and the member whose agent it is', async () => {
    const { ana, dan, robo } = people;
    await happen(ana, assigned({ memberId: idOf(dan), agentId: robo.me.agentId }));
    expect(await told()).toEqual([
      ['Chloé', 'assigned', 'Ana assigned WEB-7 to your agent'],
      ['Dan', 'assigned', 'Ana assigned WEB-7 to you'],
    ]);
  });

  it('tells a member once who is assigned with their agent', async () => {
    const { ana, chloe, robo } = people;
    await happen(ana, assigned({ memberId: idOf(chloe), agentId: robo.me.agentId }));
    expect(await told()).toEqual([['Chloé', 'assigned', 'Ana assigned WEB-7 to you']]);
  });

  it('tells the member to whose agent another agent of theirs gives it', async () => {
    const { orgId, chloe, robo } = people;
    const sibling = await world.token(orgId, idOf(chloe), { agent: 'Butler' });
    await happen(sibling, assigned({ agentId: robo.me.agentId }));
    expect(await told()).toEqual([['Chloé', 'assigned', 'Butler assigned WEB-7 to your agent']]);
  });

  it('tells nobody who was assigned before, and not whose agent takes work for itself', async () => {
    const { ana, dan, robo } = people;
    await happen(
      ana,
      assigned({ memberId: idOf(dan), previousMemberId: idOf(dan), previousAgentId: robo.me.agentId }),
    );
    await happen(robo, assigned({ agentId: robo.me.agentId }));
    expect(await told()).toEqual([]);
  });
});

describe('a review', () => {
  const asked = (memberId: string | null, agentId: string | null = null): EmittedEvent => ({
    kind: 'reviewer.added',
    subject: place.story,
    data: { memberId, agentId },
  });
  const decided = (verdict: string, note: string | null = null): EmittedEvent => ({
    kind: 'review.decided',
    subject: place.story,
    data: { verdict, note },
  });

  it('tells who is asked for it', async () => {
    await happen(people.ana, asked(idOf(people.dan)), asked(null, people.robo.me.agentId));
    expect(await told()).toEqual([
      ['Chloé', 'review_requested', 'Ana asked your agent to review WEB-7'],
      ['Dan', 'review_requested', 'Ana asked you to review WEB-7'],
    ]);
    await happen(people.robo, asked(idOf(people.chloe)));
    expect((await told())[1]).toEqual(['Chloé', 'review_requested', 'Robo asked you to review WEB-7']);
  });

  it('tells whose work it is and who asked, what was said', async () => {
    const { ana, ben, chloe, robo, dan } = people;
    await assign(idOf(ana), robo.me.agentId);
    await happen(ben, asked(idOf(dan)));
    await world.rows('delete from notifications where org_id = $1', people.orgId);
    await happen(dan, decided('changes_requested', `Tests?\n${'x'.repeat(300)}`));
    expect(await told()).toEqual([
      ['Ana', 'review_verdict', 'Dan requested changes on WEB-7'],
      ['Ben', 'review_verdict', 'Dan requested changes on WEB-7'],
      ['Chloé', 'review_verdict', 'Dan requested changes on WEB-7'],
    ]);
    const [{ body } = { body: '' }] = (await chloe.notifications.list()).items;
    expect([body.slice(0, 9), Array.from(body).length, body.at(-1)]).toEqual(['Tests? xx', 280, '…']);
    await happen(dan, decided('approved'), decided('commented'));
    expect((await ana.notifications.list()).items.map((item) => item.title).sort()).toEqual([
      'Dan approved WEB-7',
      'Dan commented in the review of WEB-7',
      'Dan requested changes on WEB-7',
    ]);
  });

  it("finds who asked by the agent's own name where an agent reviews", async () => {
    const { ben, robo, chloe } = people;
    await happen(ben, asked(null, robo.me.agentId));
    await happen(people.ana, asked(idOf(chloe)));
    await world.rows('delete from notifications where org_id = $1', people.orgId);
    await assign(idOf(people.dan), null);
    await happen(robo, decided('approved'));
    expect(await names()).toEqual(['Ben: review_verdict', 'Dan: review_verdict']);
  });

  it('tells who created a story that nobody is assigned to', async () => {
    await happen(people.dan, decided('approved'));
    expect(await names()).toEqual(['Ana: review_verdict']);
  });

  it('tells nobody of a verdict that was taken back', async () => {
    await happen(people.dan, decided('pending'));
    expect(await told()).toEqual([]);
  });
});

describe('what is told', () => {
  it('is written with the operation: one that fails leaves nothing', async () => {
    const failing = createEmitHandler([mentionEvent(people.dan)], ({ db, caller }) => {
      db.deferToCommit(
        sql`insert into comment_reactions (org_id, comment_id, member_id, emoji)
          values (${currentOrgId}, ${newId()}, ${caller.memberId}, 'x')`,
      );
      return Promise.resolve();
    });
    await expect(world.call(people.ana, failing, {})).rejects.toThrow();
    expect(await told()).toEqual([]);
    expect(await world.rows('select 1 from notification_counts where org_id = $1', people.orgId)).toEqual([]);
    expect(await world.rows('select 1 from outbox where org_id = $1', people.orgId)).toEqual([]);
  });

  it('is one row for each event and member, all of one operation in the order in which it happened', async () => {
    await happen(people.ana, mentionEvent(people.dan, people.chloe), mentionEvent(people.dan));
    expect(await names()).toEqual(['Chloé: mention', 'Dan: mention', 'Dan: mention']);
    expect((await people.dan.notifications.unreadCount()).unread).toBe(2);
  });

  it('is nothing, and no statement, for events that concern nobody', async () => {
    const quiet: EmittedEvent[] = Array.from({ length: 2_000 }, () => ({
      kind: 'story.created',
      subject: place.story,
      data: { status: 'backlog' },
    }));
    await happen(people.ana, ...quiet, mentionEvent());
    expect(await told()).toEqual([]);
  });

  it('reaches two who are told of two things at once in either order', async () => {
    const { ana, ben, chloe, dan, orgId } = people;
    await happen(ana, mentionEvent(chloe, dan));
    const outcomes = await world.runUnderContention(
      { table: 'notification_counts', id: [idOf(chloe), idOf(dan)], column: 'member_id' },
      () => happen(ana, mentionEvent(chloe), mentionEvent(dan)),
      () => happen(ben, mentionEvent(dan), mentionEvent(chloe)),
    );
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'fulfilled']);
    const counts = await world.rows<{ unread: number }>(
      'select unread from notification_counts where org_id = $1',
      orgId,
    );
    expect(counts).toEqual([{ unread: 3 }, { unread: 3 }]);
  });

  it('goes to the channels that the member chose', async () => {
    const { ana, chloe, dan, orgId } = people;
    const jobs = async () =>
      (
        await world.rows<{ payload: { notificationId: string } }>(
          `select payload from outbox where org_id = $1 and topic = 'notification.deliver'`,
          orgId,
        )
      ).map(({ payload }) => payload);
    const turn = (
      who: PersonOf<typeof world>,
      kind: NotificationKind,
      ...channels: ('inbox' | 'email' | 'push')[]
    ) =>
      Promise.all(
        channels.map((channel) => who.notifications.setPreference({ kind, channel, enabled: false })),
      );
    // By default, notifications about replies are delivered only to the inbox.
    const root = await arrangeComment(chloe);
    await happen(ana, comment({ parentId: root }));
    expect(await jobs()).toEqual([]);
    await turn(chloe, 'comment_reply', 'inbox');
    await happen(ana, comment({ parentId: root }));
    expect(await names()).toEqual(['Chloé: comment_reply']);
    // With the inbox disabled, an e-mail is still sent.
    await turn(dan, 'mention', 'inbox', 'push');
    await happen(ana, mentionEvent(dan));
    const [hidden] = await world.rows<{ id: string; in_inbox: boolean }>(
      `select id, in_inbox from notifications where org_id = $1 and kind = 'mention'`,
      orgId,
    );
    expect(hidden?.in_inbox).toBe(false);
    expect(await jobs()).toEqual([{ notificationId: hidden?.id }]);
    expect((await dan.notifications.list()).items).toEqual([]);
    expect((await dan.notifications.unreadCount()).unread).toBe(0);
    await expect(dan.notifications.markRead({ notificationIds: [hidden?.id ?? ''] })).rejects.toMatchObject({
      status: 404,
    });
    await turn(dan, 'mention', 'email');
    await happen(ana, mentionEvent(dan));
    expect(await jobs()).toHaveLength(1);
  });
});
