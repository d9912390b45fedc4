import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Story } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { stories } from '../stories/handlers.ts';
import { storySpec } from '../storySpec/handlers.ts';
import { comments } from './handlers.ts';

const world = useWorld({ stories, storySpec, comments });

let people: PeopleOf<typeof world>;
let board: TestBoard;
let story: Story;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ({ story } = await people.ana.stories.create({ projectId: board.projectId, title: 'Passkeys' }));
});

const createComment = async (params: object = {}) =>
  (await people.chloe.comments.create({ storyId: story.id, body: 'Yes', ...params })).comment;

describe('comments.create', () => {
  it('offers the answers of a question, also in lists', async () => {
    const comment = await createComment({ kind: 'question', body: 'Deploy?', options: ['Yes', 'No'] });
    expect(comment.options).toEqual(['Yes', 'No']);
    const { items } = await people.dan.comments.list({ storyId: story.id });
    expect(items.map(({ options }) => options)).toEqual([['Yes', 'No']]);
    expect((await createComment()).options).toEqual([]);
  });

  it.each([
    ['of a comment', { options: ['Yes'] }],
    ['that are the same', { kind: 'question', options: ['Yes', ' Yes'] }],
    ['that are too many', { kind: 'question', options: ['1', '2', '3', '4', '5', '6'] }],
    ['that are too long', { kind: 'question', options: ['x'.repeat(76)] }],
    ['without text', { kind: 'question', options: [' '] }],
    ['of a reply', { kind: 'question', options: ['Yes'], parentId: newId() }],
  ])('refuses answers %s', async (_, params) => {
    await expect(createComment(params)).rejects.toMatchObject({ status: 400 });
  });

  it('keeps what was said, by whom and about which line, and says so', async () => {
    await people.chloe.storySpec.update({ storyId: story.id, content: 'a\n' });
    const { comment } = await people.robo.comments.create({
      storyId: 'web-1',
      body: 'Why this?',
      kind: 'question',
      directedTo: people.dan.me.memberId,
      anchor: { specVersion: 1, line: 1 },
    });
    expect(boardRegistry.comments.create.result.parse({ comment })).toEqual({ comment });
    expect(comment).toMatchObject({
      storyId: story.id,
      parentId: null,
      kind: 'question',
      body: 'Why this?',
      directedTo: people.dan.me.memberId,
      author: {
        kind: 'agent',
        memberId: people.chloe.me.memberId,
        agentId: people.robo.me.agentId,
        name: 'Robo',
      },
      mentions: [],
      anchor: { specVersion: 1, line: 1 },
      reactions: [],
      resolvedAt: null,
      resolvedBy: null,
      editedAt: null,
      deletedAt: null,
      version: 1,
    });
    expect(comment.updatedAt).toBe(comment.createdAt);
    expect((await people.dan.comments.list({ storyId: story.id })).items).toEqual([
      { ...comment, replies: [], repliesCursor: null },
    ]);
    const [event] = await world.rows(
      `select * from activity where org_id = $1 and kind = 'comment.created'`,
      people.orgId,
    );
    expect(event).toMatchObject({
      story_id: story.id,
      project_id: board.projectId,
      subject: { type: 'story', id: story.id, key: 'WEB-1', title: 'Passkeys' },
      data: {
        commentId: comment.id,
        parentId: null,
        kind: 'question',
        directedTo: people.dan.me.memberId,
        mentions: [],
      },
    });
  });

  it('leaves the story as it was', async () => {
    await createComment();
    expect((await people.ana.stories.get({ storyId: story.id })).story).toEqual(story);
  });

  it('lets viewers speak, and nobody in an archived project', async () => {
    expect(
      (await people.dan.comments.create({ storyId: story.id, body: 'Me too' })).comment.author.name,
    ).toBe('Dan');
    await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
    await expect(createComment()).rejects.toMatchObject({ status: 422, reason: 'archived' });
  });

  it('mentions active members who can see the project, and nobody else', async () => {
    const { ana, ben, dan } = people;
    await world.rows(`update members set status = 'removed' where id = $1`, ben.me.memberId);
    const foreign = await world.org();
    await world.member(foreign.orgId, 'Eve', 'member');
    expect(
      (await createComment({ body: '@Dan, @ana: `@chloe` @ben @eve @nobody ana@example.com' })).mentions,
    ).toEqual([ana.me.memberId, dan.me.memberId].sort().map((memberId) => ({ memberId })));
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    const { story: secret } = await ana.stories.create({ projectId: hidden.projectId, title: 'x' });
    const { comment } = await ana.comments.create({ storyId: secret.key, body: '@chloe @dan @ana' });
    expect(comment.mentions).toEqual([{ memberId: ana.me.memberId }]);
  });

  it('hangs a reply to a reply under the root', async () => {
    const root = await createComment();
    const reply = await createComment({ parentId: root.id });
    const below = await createComment({ parentId: reply.id });
    expect([reply.parentId, below.parentId]).toEqual([root.id, root.id]);
  });

  it('takes no parent of another story, and tells of it only who can see that story', async () => {
    const { story: other } = await people.ana.stories.create({ projectId: board.projectId, title: 'y' });
    const { comment: elsewhere } = await people.ana.comments.create({ storyId: other.id, body: 'x' });
    await expect(createComment({ parentId: elsewhere.id })).rejects.toMatchObject({
      status: 422,
      reason: 'mismatched_project',
    });

    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    const { story: secret } = await people.ana.stories.create({ projectId: hidden.projectId, title: 'x' });
    const { comment: whisper } = await people.ana.comments.create({ storyId: secret.id, body: 'x' });
    await expect(
      people.ben.comments.create({ storyId: story.id, body: 'x', parentId: whisper.id }),
    ).rejects.toMatchObject({
      status: 422,
    });
    for (const parentId of [whisper.id, newId()]) {
      await expect(createComment({ parentId })).rejects.toMatchObject({ status: 404, code: 'not_found' });
    }
  });

  it('knows no addressee who is gone or elsewhere, and no version of the spec that is not there', async () => {
    await world.rows(`update members set status = 'removed' where id = $1`, people.ben.me.memberId);
    const foreign = await world.org();
    for (const directedTo of [people.ben.me.memberId, foreign.ana.me.memberId, newId()]) {
      await expect(createComment({ kind: 'question', directedTo })).rejects.toMatchObject({
        status: 404,
        code: 'not_found',
      });
    }
    await people.chloe.storySpec.update({ storyId: story.id, content: 'a\n' });
    await expect(createComment({ anchor: { specVersion: 2, line: 1 } })).rejects.toMatchObject({
      status: 404,
    });
    expect((await people.dan.comments.list({ storyId: story.id })).items).toEqual([]);
  });

  it('is addressed to no member who could not see it, and would not be told', async () => {
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    await people.ana.stories.create({ projectId: hidden.projectId, title: 'x' });
    const asked = people.ana.comments.create({
      ...{ storyId: 'HID-1', body: 'Which?', kind: 'question', directedTo: people.dan.me.memberId },
    });
    await expect(asked).rejects.toMatchObject({ status: 422, reason: 'no_role_in_project' });
  });

  it('answers a reply to a thread that was deleted meanwhile as to one that never was', async () => {
    const root = await createComment();
    const [removed, replied] = await world.runUnderContention<unknown>(
      { table: 'comments', id: root.id },
      () => people.chloe.comments.delete({ commentId: root.id }),
      () => people.dan.comments.create({ storyId: story.id, body: 'x', parentId: root.id }),
    );
    // The deletion and the reply may commit in either order. A reply that was acknowledged must not
    // disappear.
    expect(removed?.status).toBe('fulfilled');
    const { items } = await people.dan.comments.list({ storyId: story.id });
    if (replied?.status === 'rejected') {
      expect(replied.reason).toMatchObject({ status: 404 });
      expect(items).toEqual([]);
    } else {
      expect(items).toMatchObject([{ id: root.id, body: null, replies: [{ body: 'x' }] }]);
    }
  });

  it('keeps a reply that was being written when its root was deleted', async () => {
    const root = await createComment();
    const writer = await world.database.owner.connect();
    try {
      await writer.query('begin');
      await writer.query(
        `insert into comments (org_id, id, story_id, parent_id, kind, body, author, author_member_id)
         values ($1, $2, $3, $4, 'comment', 'x', $5, $6)`,
        [people.orgId, newId(), story.id, root.id, root.author, people.dan.me.memberId],
      );
      const removed = people.chloe.comments.delete({ commentId: root.id });
      await world.waitUntilBlocked(1);
      await writer.query('commit');
      expect(await removed).toEqual({ deleted: true });
    } finally {
      writer.release();
    }
    expect((await people.dan.comments.list({ storyId: story.id })).items).toMatchObject([
      { id: root.id, body: null, replies: [{ body: 'x' }] },
    ]);
  });
});
