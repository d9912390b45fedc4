import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Story } from '@muster/contract';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { stories } from '../stories/handlers.ts';
import { comments } from './handlers.ts';

const world = useWorld({ stories, comments });

let people: PeopleOf<typeof world>;
let board: TestBoard;
let story: Story;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ({ story } = await people.ana.stories.create({ projectId: board.projectId, title: 'Passkeys' }));
});

const createComment = async (body: string, who: PersonOf<typeof world> = people.chloe, parentId?: string) =>
  (await who.comments.create({ storyId: story.id, body, ...(parentId !== undefined && { parentId }) }))
    .comment;
const listThreads = async (who: PersonOf<typeof world> = people.dan) =>
  (await who.comments.list({ storyId: story.id })).items;
const listEvents = async () =>
  world.rows<{ kind: string; data: unknown }>(
    `select kind, data from activity where org_id = $1 and kind like 'comment.%' and kind <> 'comment.created' order by seq`,
    people.orgId,
  );

describe('comments.list', () => {
  it('pages through roots, oldest first, each with all its replies and reactions', async () => {
    const roots = [];
    for (const body of ['one', 'two', 'three', 'four', 'five']) roots.push(await createComment(body));
    for (const root of roots) {
      for (const body of ['a', 'b', 'c']) await createComment(body, people.dan, root.id);
    }
    await people.dan.comments.react({ commentId: roots[0]?.id ?? '', emoji: '👍' });
    const pages = [];
    let cursor: string | undefined;
    do {
      const { items, nextCursor } = await people.dan.comments.list({
        storyId: 'web-1',
        limit: 2,
        ...(cursor !== undefined && { cursor }),
      });
      pages.push(items);
      cursor = nextCursor ?? undefined;
      // Changes between pages cause no repetitions and no gaps.
      if (pages.length === 1) await people.chloe.comments.delete({ commentId: roots[0]?.id ?? '' });
    } while (cursor !== undefined);
    expect(pages.map((items) => items.map((item) => item.body))).toEqual([
      ['one', 'two'],
      ['three', 'four'],
      ['five'],
    ]);
    for (const thread of pages.flat()) {
      expect(thread.replies.map((reply) => [reply.body, reply.parentId])).toEqual(
        ['a', 'b', 'c'].map((body) => [body, thread.id]),
      );
    }
    expect(pages[0]?.[0]?.reactions).toEqual([{ emoji: '👍', count: 1, mine: true }]);
  });

  it('says of each reaction how many gave it, and whether the caller did', async () => {
    const root = await createComment('x');
    const reply = await createComment('y', people.dan, root.id);
    for (const who of [people.ana, people.robo])
      await who.comments.react({ commentId: root.id, emoji: '🎉' });
    await people.dan.comments.react({ commentId: root.id, emoji: '❤️' });
    await people.dan.comments.react({ commentId: reply.id, emoji: '🎉' });
    // Chloé's list shows a reaction of her agent Robo as her own.
    expect((await listThreads(people.chloe))[0]).toMatchObject({
      reactions: [
        { emoji: '❤️', count: 1, mine: false },
        { emoji: '🎉', count: 2, mine: true },
      ],
      replies: [{ reactions: [{ emoji: '🎉', count: 1, mine: false }] }],
    });
    expect((await listThreads(people.dan))[0]?.reactions.map((reaction) => reaction.mine)).toEqual([
      true,
      false,
    ]);
  });

  it('takes an emoji with or without its variation selector as the same one', async () => {
    const root = await createComment('Ship it');
    for (const emoji of ['\u2764', '\u2764\uFE0F', '\u{1F44D}\uFE0F', '\u{1F44D}'])
      await people.dan.comments.react({ commentId: root.id, emoji });
    expect((await listThreads(people.dan))[0]?.reactions).toEqual([
      { emoji: '\u2764\uFE0F', count: 1, mine: true },
      { emoji: '\u{1F44D}', count: 1, mine: true },
    ]);
  });

  it('leaves resolved threads out where asked to', async () => {
    const [open, resolved] = [await createComment('open'), await createComment('resolved')];
    await people.dan.comments.resolve({ commentId: resolved.id });
    expect((await listThreads()).map((thread) => thread.id)).toEqual([open.id, resolved.id]);
    const { items } = await people.dan.comments.list({ storyId: story.id, includeResolved: false });
    expect(items.map((thread) => thread.id)).toEqual([open.id]);
  });
});

describe('comments.update', () => {
  it('tells each member once, however often a mention comes and goes', async () => {
    const comment = await createComment('See @ana');
    for (const body of ['x', 'See @ana', 'See @dan', 'x', '@ana and @dan']) {
      await people.chloe.comments.update({ commentId: comment.id, body });
    }
    expect((await listEvents()).map(({ data }) => (data as { mentions: string[] }).mentions)).toEqual([
      [],
      [],
      [people.dan.me.memberId],
      [],
      [],
    ]);
  });

  it('changes the text and whom it mentions, and tells only whom it mentions anew', async () => {
    const comment = await createComment('@ana?');
    const { comment: edited } = await people.chloe.comments.update({
      commentId: comment.id,
      body: '@ana @dan?',
      expectedVersion: 1,
    });
    expect(edited).toEqual({
      ...comment,
      body: '@ana @dan?',
      mentions: [people.ana.me.memberId, people.dan.me.memberId].sort().map((memberId) => ({ memberId })),
      version: 2,
      editedAt: edited.updatedAt,
      updatedAt: edited.updatedAt,
    });
    expect(await listThreads()).toEqual([{ ...edited, replies: [], repliesCursor: null }]);
    expect(await listEvents()).toEqual([
      { kind: 'comment.updated', data: { commentId: comment.id, mentions: [people.dan.me.memberId] } },
    ]);
  });

  it('changes nothing for the same text', async () => {
    const comment = await createComment('x');
    expect((await people.chloe.comments.update({ commentId: comment.id, body: 'x' })).comment).toEqual(
      comment,
    );
    expect(await listEvents()).toEqual([]);
    for (const body of ['x', 'y']) {
      await expect(
        people.chloe.comments.update({ commentId: comment.id, body, expectedVersion: 2 }),
      ).rejects.toMatchObject({
        status: 409,
        body: { details: { reason: 'version_mismatch', currentVersion: 1 } },
      });
    }
  });

  it("is for the author alone: not for leads, not for another agent, but for an agent's member", async () => {
    const [mine, robots] = [await createComment('x'), await createComment('y', people.robo)];
    const helper = await world.token(people.orgId, people.chloe.me.memberId, { agent: 'Helper' });
    for (const [who, commentId] of [
      [people.ana, mine.id],
      [people.robo, mine.id],
      [helper, robots.id],
      [people.dan, robots.id],
    ] as const) {
      await expect(who.comments.update({ commentId, body: 'z' })).rejects.toMatchObject({
        status: 403,
        reason: 'not_the_author',
      });
    }
    expect((await people.robo.comments.update({ commentId: robots.id, body: 'z' })).comment.body).toBe('z');
    expect((await people.chloe.comments.update({ commentId: robots.id, body: 'zz' })).comment).toMatchObject({
      body: 'zz',
      author: { name: 'Robo' },
    });
  });

  it('lets one of two edits on the same version win', async () => {
    const comment = await createComment('x');
    const edit = (body: string) => () =>
      people.chloe.comments.update({ commentId: comment.id, body, expectedVersion: 1 });
    const outcomes = await world.runUnderContention(
      { table: 'comments', id: comment.id },
      edit('y'),
      edit('z'),
    );
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('comments.delete', () => {
  it('removes a comment with its reactions', async () => {
    const comment = await createComment('x');
    await people.dan.comments.react({ commentId: comment.id, emoji: '👍' });
    expect(await people.chloe.comments.delete({ commentId: comment.id })).toEqual({ deleted: true });
    expect(await listThreads()).toEqual([]);
    expect(await world.rows('select 1 from comment_reactions where org_id = $1', people.orgId)).toEqual([]);
    expect((await listEvents()).at(-1)).toEqual({ kind: 'comment.deleted', data: { commentId: comment.id } });
    await expect(people.chloe.comments.delete({ commentId: comment.id })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('keeps the place of a root for its replies, and only as long as there are some', async () => {
    const root = await createComment('@dan look');
    const replies = [
      await createComment('a', people.dan, root.id),
      await createComment('b', people.dan, root.id),
    ];
    await people.dan.comments.react({ commentId: root.id, emoji: '👍' });
    await people.chloe.comments.delete({ commentId: root.id });
    expect(await listThreads()).toMatchObject([
      {
        id: root.id,
        body: null,
        mentions: [],
        reactions: [],
        deletedAt: expect.any(String),
        version: 2,
        replies: [{ body: 'a' }, { body: 'b' }],
      },
    ]);
    await expect(people.chloe.comments.delete({ commentId: root.id })).rejects.toMatchObject({ status: 404 });
    await expect(people.chloe.comments.update({ commentId: root.id, body: 'x' })).rejects.toMatchObject({
      status: 422,
      reason: 'tombstone',
    });
    for (const on of [true, false]) {
      await expect(people.dan.comments.react({ commentId: root.id, emoji: '👍', on })).rejects.toMatchObject({
        reason: 'tombstone',
      });
    }
    await people.dan.comments.delete({ commentId: replies[0]?.id ?? '' });
    expect(await listThreads()).toMatchObject([{ id: root.id, replies: [{ body: 'b' }] }]);
    await people.dan.comments.delete({ commentId: replies[1]?.id ?? '' });
    expect(await listThreads()).toEqual([]);
  });

  it('leaves the root when its only reply goes', async () => {
    const root = await createComment('x');
    const reply = await createComment('y', people.dan, root.id);
    await people.dan.comments.delete({ commentId: reply.id });
    expect(await listThreads()).toMatchObject([{ id: root.id, body: 'x', replies: [] }]);
  });

  it('leaves no empty tombstone when the last two replies go at once', async () => {
    const root = await createComment('x');
    const replies = [
      await createComment('a', people.dan, root.id),
      await createComment('b', people.chloe, root.id),
    ];
    await people.chloe.comments.delete({ commentId: root.id });
    const outcomes = await world.runUnderContention(
      { table: 'comments', id: root.id },
      () => people.dan.comments.delete({ commentId: replies[0]?.id ?? '' }),
      () => people.chloe.comments.delete({ commentId: replies[1]?.id ?? '' }),
    );
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'fulfilled']);
    expect(await listThreads()).toEqual([]);
  });

  it('is for the author and for leads of the project', async () => {
    const [first, second, third] = [
      await createComment('x'),
      await createComment('y'),
      await createComment('z', people.robo),
    ];
    const helper = await world.token(people.orgId, people.chloe.me.memberId, { agent: 'Helper' });
    for (const [who, commentId] of [
      [people.dan, first.id],
      [people.robo, first.id],
      [helper, third.id],
    ] as const) {
      await expect(who.comments.delete({ commentId })).rejects.toMatchObject({
        status: 403,
        reason: 'not_the_author',
      });
    }
    await people.ben.comments.delete({ commentId: first.id });
    const lead = await world.member(people.orgId, 'Lea', 'member');
    await world.rows(
      `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'lead')`,
      people.orgId,
      board.projectId,
      lead.me.memberId,
    );
    await lead.comments.delete({ commentId: second.id });
    await people.chloe.comments.delete({ commentId: third.id });
    expect(await listThreads()).toEqual([]);
  });
});

describe('comments.react', () => {
  it('gives and takes back, once, however often it is asked to', async () => {
    const comment = await createComment('x');
    const react = async (on: boolean) =>
      (await people.dan.comments.react({ commentId: comment.id, emoji: '👍', on })).comment;
    const given = { ...comment, reactions: [{ emoji: '👍', count: 1, mine: true }] };
    expect([await react(true), await react(true), await react(false), await react(false)]).toEqual([
      given,
      given,
      comment,
      comment,
    ]);
    expect(await listEvents()).toEqual([
      { kind: 'comment.reacted', data: { commentId: comment.id, emoji: '👍', on: true } },
      { kind: 'comment.reacted', data: { commentId: comment.id, emoji: '👍', on: false } },
    ]);
  });

  it('counts one for a member who clicks twice at once', async () => {
    const comment = await createComment('x');
    const react = () => people.dan.comments.react({ commentId: comment.id, emoji: '👍' });
    const outcomes = await world.runUnderContention({ table: 'comments', id: comment.id }, react, react);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'fulfilled']);
    expect((await listThreads())[0]?.reactions).toEqual([{ emoji: '👍', count: 1, mine: true }]);
  });

  it('takes 50 different emojis and no more, also from two at once', async () => {
    const comment = await createComment('x');
    const emojis = Array.from({ length: 51 }, (_, index) => String.fromCodePoint(0x1f400 + index));
    await world.rows(
      'insert into comment_reactions (org_id, comment_id, member_id, emoji) select $1, $2, $3, unnest($4::text[])',
      people.orgId,
      comment.id,
      people.ana.me.memberId,
      emojis.slice(0, 49),
    );
    const outcomes = await world.runUnderContention(
      { table: 'comments', id: comment.id },
      ...emojis.slice(49).map((emoji) => () => people.dan.comments.react({ commentId: comment.id, emoji })),
    );
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
    const lost = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(lost?.reason).toMatchObject({ status: 422, reason: 'limit_exceeded' });
    // Any member may repeat an existing reaction.
    const { comment: joined } = await people.dan.comments.react({
      commentId: comment.id,
      emoji: emojis[0] ?? '',
    });
    expect(joined.reactions).toHaveLength(50);
    expect(joined.reactions).toEqual((await listThreads())[0]?.reactions);
  });
});

describe('comments.resolve', () => {
  it('resolves a thread and opens it again, once each', async () => {
    const comment = await createComment('x');
    await createComment('y', people.dan, comment.id);
    const resolve = async (resolved: boolean, who: PersonOf<typeof world>) =>
      (await who.comments.resolve({ commentId: comment.id, resolved })).comment;
    const resolved = await resolve(true, people.robo);
    expect(resolved).toMatchObject({ resolvedBy: { name: 'Robo' }, version: 2, editedAt: null });
    expect(resolved.resolvedAt).toBe(resolved.updatedAt);
    expect(await resolve(true, people.dan)).toEqual(resolved);
    const open = await resolve(false, people.dan);
    expect(open).toEqual({ ...comment, version: 3, updatedAt: open.updatedAt });
    expect(await resolve(false, people.dan)).toEqual(open);
    expect((await listEvents()).map((event) => event.kind)).toEqual(['comment.resolved', 'comment.reopened']);
  });

  it('is resolved once by two who do so at the same time', async () => {
    const { id } = await createComment('x');
    const outcomes = await world.runUnderContention(
      { table: 'comments', id },
      () => people.dan.comments.resolve({ commentId: id }),
      () => people.robo.comments.resolve({ commentId: id }),
    );
    const comments = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [outcome.value.comment] : [],
    );
    expect(comments).toHaveLength(2);
    expect(comments[0]).toMatchObject({ version: 2 });
    expect(comments[1]).toEqual(comments[0]);
    expect((await listEvents()).map((event) => event.kind)).toEqual(['comment.resolved']);
  });

  it('takes roots only', async () => {
    const root = await createComment('x');
    const reply = await createComment('y', people.dan, root.id);
    await expect(people.dan.comments.resolve({ commentId: reply.id })).rejects.toMatchObject({
      status: 422,
      body: { details: { reason: 'not_a_root', rootId: root.id } },
    });
  });
});

it('answers comments that are missing, hidden or of another organization alike', async () => {
  const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
  const { story: secret } = await people.ana.stories.create({ projectId: hidden.projectId, title: 'x' });
  const { comment: whisper } = await people.ana.comments.create({ storyId: secret.id, body: 'x' });
  const foreign = await world.org();
  const away = await arrangeBoard(world, foreign.orgId);
  const { story: abroad } = await foreign.ana.stories.create({ projectId: away.projectId, title: 'x' });
  const { comment: stranger } = await foreign.ana.comments.create({ storyId: abroad.id, body: 'x' });
  const answers = new Set<string>();
  for (const commentId of [newId(), whisper.id, stranger.id]) {
    for (const call of [
      () => people.chloe.comments.update({ commentId, body: 'y' }),
      () => people.chloe.comments.delete({ commentId }),
      () => people.chloe.comments.react({ commentId, emoji: '👍' }),
      () => people.chloe.comments.resolve({ commentId }),
    ]) {
      const answer: unknown = await call().catch((error: unknown) => error);
      answers.add(JSON.stringify(answer, (key, value: unknown) => (key === 'requestId' ? '' : value)));
    }
  }
  expect(answers.size).toBe(1);
  expect([...answers][0]).toContain('"status":404');
});

it('refuses every write in an archived project', async () => {
  const comment = await createComment('x');
  await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
  const commentId = comment.id;
  for (const call of [
    () => people.chloe.comments.update({ commentId, body: 'y' }),
    () => people.chloe.comments.delete({ commentId }),
    () => people.chloe.comments.react({ commentId, emoji: '👍' }),
    () => people.chloe.comments.resolve({ commentId }),
  ]) {
    await expect(call()).rejects.toMatchObject({ status: 422, reason: 'archived' });
  }
  expect(await listThreads()).toEqual([{ ...comment, replies: [], repliesCursor: null }]);
});
