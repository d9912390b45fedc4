import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Story } from '@muster/contract';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../test/board.ts';
import { stories } from '../stories/handlers.ts';
import { comments } from './handlers.ts';

const world = useWorld({ stories, comments });

let people: PeopleOf<typeof world>;
let story: Story;
beforeEach(async () => {
  people = await world.org();
  const { projectId } = await arrangeBoard(world, people.orgId);
  ({ story } = await people.ana.stories.create({ projectId, title: 'Passkeys' }));
});

const say = async (body: string, who: PersonOf<typeof world> = people.chloe, parentId?: string) =>
  (await who.comments.create({ storyId: story.id, body, ...(parentId !== undefined && { parentId }) }))
    .comment;
const listThreads = async () => (await people.dan.comments.list({ storyId: story.id })).items;

describe('a long thread', () => {
  it('shows the first 20 replies of a thread, and comments.replies the rest', async () => {
    const root = await say('root');
    const bodies = Array.from({ length: 45 }, (_, n) => `reply ${n}`);
    for (const body of bodies) await say(body, people.dan, root.id);
    const [thread] = await listThreads();
    expect(thread?.replies.map(({ body }) => body)).toEqual(bodies.slice(0, 20));
    const seen = thread?.replies ?? [];
    for (let cursor = thread?.repliesCursor ?? null; cursor !== null;) {
      const { items, nextCursor } = await people.dan.comments.replies({
        commentId: root.id,
        limit: 10,
        cursor,
      });
      seen.push(...items);
      cursor = nextCursor;
    }
    expect(seen.map(({ body }) => body)).toEqual(bodies);
    const { items: all } = await people.dan.comments.replies({ commentId: root.id, limit: 200 });
    expect(all).toEqual(seen);
    // comments.list for this thread returns the replies that comments.replies returned.
    await say('another root');
    const parts = [];
    for (let repliesCursor: string | null | undefined; repliesCursor !== null;) {
      const { items } = await people.dan.comments.list({
        ...{ storyId: story.id, threadId: root.id },
        ...(repliesCursor !== undefined && { repliesCursor }),
      });
      expect(items.map(({ id }) => id)).toEqual([root.id]);
      parts.push(...(items[0]?.replies ?? []));
      repliesCursor = items[0]?.repliesCursor ?? null;
    }
    expect(parts).toEqual(seen);
  });

  it('ends with its replies where there are 20, and has none for a reply', async () => {
    const root = await say('root');
    let last = root;
    for (let n = 0; n < 20; n += 1) last = await say(`reply ${n}`, people.dan, root.id);
    expect((await listThreads())[0]).toMatchObject({ replies: { length: 20 }, repliesCursor: null });
    expect(await people.dan.comments.replies({ commentId: last.id })).toEqual({
      items: [],
      nextCursor: null,
    });
  });

  it('stays below 1 MiB however long comments are, and loses none of them', async () => {
    const long = '\u{1F600}'.repeat(19_000);
    const roots = [];
    for (let n = 0; n < 6; n += 1) {
      const root = await say(`${n} ${long}`);
      roots.push(root.id);
      for (let reply = 0; reply < 5; reply += 1) await say(`${n} ${reply} ${long}`, people.dan, root.id);
    }
    const seen: string[] = [];
    let pages = 0;
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: Awaited<ReturnType<typeof people.dan.comments.list>> = await people.dan.comments.list({
        ...{ storyId: story.id, limit: 200 },
        ...(cursor !== undefined && { cursor }),
      });
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(1_100_000);
      for (const { id, replies, repliesCursor } of page.items) {
        seen.push(id);
        expect([replies.length, repliesCursor]).toEqual([4, expect.any(String)]);
        const rest = await people.dan.comments.replies({ commentId: id, cursor: repliesCursor ?? '' });
        expect(rest).toMatchObject({ items: { length: 1 }, nextCursor: null });
      }
      pages += 1;
      cursor = page.nextCursor;
    }
    expect([seen, pages > 1]).toEqual([roots, true]);
  });
});
