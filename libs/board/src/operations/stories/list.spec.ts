import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type InputOf, type StorySummary } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { stories } from './handlers.ts';

const world = useWorld({ stories });

type Params = Omit<InputOf<BoardRegistry['stories']['list']>, 'projectId' | 'view'>;

let people: PeopleOf<typeof world>;
let board: TestBoard;
let ana: PersonOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ana = people.ana;
});

const createStory = async (params: object = {}) =>
  (await ana.stories.create({ projectId: board.projectId, title: 'x', ...params })).story;
const list = (params: Params = {}) => ana.stories.list({ projectId: board.key, ...params });
const listNumbers = async (params: Params = {}) => (await list(params)).items.map(({ number }) => number);

/** Reads all pages, and calls `between` after each page except the last. */
async function readAll(
  params: Params,
  between: () => Promise<unknown> = async () => undefined,
): Promise<StorySummary[]> {
  const items: StorySummary[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof list>> = await list({
      ...params,
      ...(cursor !== null && { cursor }),
    });
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor !== null) await between();
  } while (cursor !== null);
  return items;
}

describe('stories.list', () => {
  it('shows the board column by column from top to bottom, the canceled ones last', async () => {
    await createStory({ status: 'done' });
    await createStory({ status: 'ready' });
    await createStory();
    await createStory({ status: 'ready' });
    await createStory();
    for (const storyId of ['WEB-5', 'WEB-3']) await ana.stories.updateStatus({ storyId, status: 'canceled' });
    await ana.stories.reorder({ storyId: 'WEB-4', beforeStoryId: 'WEB-2' });
    expect(await listNumbers()).toEqual([4, 2, 1, 5, 3]);
    for (const limit of [1, 2, 3, 4, 5]) {
      expect((await readAll({ limit })).map(({ number }) => number)).toEqual([4, 2, 1, 5, 3]);
    }
  });

  it('shows everything of a story but its description', async () => {
    const { description, ...summary } = await createStory({
      description: 'long',
      labels: ['a'],
      estimate: 2.5,
      blockedBy: [(await createStory()).id],
    });
    expect((await list()).items).toContainEqual(summary);
    expect(description).toBe('long');
  });

  it('goes by what was changed last, or made last', async () => {
    for (let n = 0; n < 5; n += 1) await createStory();
    await ana.stories.update({ storyId: 'WEB-2', title: 'changed' });
    // Creation and change may fall into the same millisecond, so the last change gets a later time.
    await world.rows(
      `update stories set updated_at = updated_at + interval '1 s' where number = 2 and project_id = $1`,
      board.projectId,
    );
    expect((await listNumbers({ sort: 'updated' }))[0]).toBe(2);
    expect(await listNumbers({ sort: 'created' })).toEqual([5, 4, 3, 2, 1]);
    for (const sort of ['updated', 'created'] as const) {
      expect((await readAll({ sort, limit: 2 })).map(({ number }) => number)).toEqual(
        await listNumbers({ sort }),
      );
    }
  });

  it('keeps all stories of one millisecond on their pages', async () => {
    for (let n = 0; n < 7; n += 1) await createStory();
    await world.rows(`update stories set updated_at = '2026-01-01' where project_id = $1`, board.projectId);
    expect(new Set((await readAll({ sort: 'updated', limit: 2 })).map(({ number }) => number)).size).toBe(7);
  });

  it('shows those that are named, in the board’s order, and none of another project', async () => {
    const made = [
      await createStory(),
      await createStory({ status: 'ready' }),
      await createStory(),
      await createStory(),
    ];
    const [first, second, , last] = made.map(({ id }) => id);
    const other = await arrangeBoard(world, people.orgId, { key: 'OPS' });
    const { story: elsewhere } = await ana.stories.create({ projectId: other.projectId, title: 'x' });
    const storyIds = [last, elsewhere.id, second, first, newId()].flatMap((id) => id ?? []);
    expect(await listNumbers({ storyIds })).toEqual([1, 4, 2]);
    expect(await listNumbers({ storyIds, status: 'ready' })).toEqual([2]);
    expect(await listNumbers({ storyIds, limit: 2 })).toEqual([1, 4]);
    const keys = ['web-4', '#WEB-2', 'https://muster.example.com/s/WEB-1', 'WEB-99', 'OPS-1'];
    expect(await listNumbers({ storyIds: [...keys, last ?? ''] })).toEqual([1, 4, 2]);
  });

  it('adds filters up, in each order', async () => {
    const epicId = newId();
    await world.rows(
      'insert into epics (org_id, id, project_id, title) values ($1, $2, $3, $4)',
      people.orgId,
      epicId,
      board.projectId,
      'E',
    );
    await createStory({ title: 'Sign in', labels: ['auth', 'ui'], epicId });
    await createStory({ title: '100% of_it', status: 'ready', labels: ['ui'] });
    await createStory({ title: 'back\\slash', status: 'done', epicId });
    await createStory({ title: 'ÉTÉ', labels: ['auth'] });
    await ana.stories.updateStatus({ storyId: 'WEB-4', status: 'canceled' });
    await world.rows(
      `insert into assignments (org_id, target_type, target_id, project_id, member_id, agent_id)
       select org_id, 'story', id, project_id, $2, $3 from stories where project_id = $1 and number in (2, 3)`,
      board.projectId,
      people.ben.me.memberId,
      people.robo.me.agentId,
    );
    const { items } = await list({ sort: 'created' });
    const updatedAt = (number: number) => items.find((item) => item.number === number)?.updatedAt ?? '';
    const cases: [Params, number[]][] = [
      [{ columnId: board.columns.ready }, [2]],
      [{ columnId: newId() }, []],
      [{ status: 'canceled' }, [4]],
      [{ status: ['done', 'ready'] }, [2, 3]],
      [{ status: ['done', 'canceled'] }, [3, 4]],
      [{ epicId }, [1, 3]],
      [{ epicId, status: 'done' }, [3]],
      [{ label: 'AUTH' }, [1, 4]],
      [{ label: 'auth' }, [1, 4]],
      [{ label: 'auth', columnId: board.columns.backlog }, [1]],
      [{ assigneeId: people.ben.me.memberId }, [2, 3]],
      [{ agentId: people.robo.me.agentId ?? '', status: 'ready' }, [2]],
      [{ assigneeId: people.ana.me.memberId }, []],
      [{ query: 'SIGN' }, [1]],
      [{ query: 'web-3' }, [3]],
      [{ query: 'WEB-' }, [1, 2, 3, 4]],
      [{ query: '-' }, []],
      [{ query: '%' }, [2]],
      [{ query: '_' }, [2]],
      [{ query: '\\' }, [3]],
      [{ query: 'été' }, [4]],
      [{ query: 'e\u0301te\u0301' }, [4]],
      [{ updatedSince: updatedAt(4) }, [4]],
    ];
    for (const sort of ['board', 'updated', 'created'] as const) {
      for (const [filter, expected] of cases) {
        const found = await readAll({ ...filter, sort, limit: 1 });
        expect({ sort, filter, found: found.map(({ number }) => number).sort() }).toEqual({
          sort,
          filter,
          found: expected,
        });
      }
    }
  });

  it('misses and repeats no story that stood there throughout, whatever others write between pages', async () => {
    const statuses = ['backlog', 'ready', 'in_progress', 'in_review', 'done'] as const;
    for (let n = 0; n < 30; n += 1) await createStory({ title: `stays ${n}`, status: statuses[n % 5] });
    const { ben } = people;
    const movable: string[] = [];
    for (let n = 0; n < 10; n += 1)
      movable.push((await createStory({ title: 'moves', status: statuses[n % 5] })).id);
    let turn = 0;
    const write = async () => {
      turn += 1;
      const status = statuses[turn % 5] ?? 'ready';
      if (turn % 3 === 1) await createStory({ title: 'new', status });
      const storyId = movable[turn % 10] ?? '';
      const moving =
        turn % 3 === 0
          ? ben.stories.updateStatus({ storyId, status: 'canceled' })
          : ben.stories.reorder({ storyId, beforeStoryId: `WEB-${(turn % 30) + 1}` });
      // The workflow refuses some moves out of done.
      await moving.catch(() => undefined);
      await ben.stories.update({ storyId, title: `moves ${turn}` });
    };
    for (const sort of ['board', 'updated', 'created'] as const) {
      for (const limit of [2, 7]) {
        const seen = (await readAll({ sort, limit }, write)).filter(({ title }) => title.startsWith('stays'));
        expect(new Set(seen.map(({ id }) => id)).size).toBe(30);
        expect(seen).toHaveLength(30);
      }
    }
  });

  it('takes only cursors that it gave out for the same order', async () => {
    for (let n = 0; n < 3; n += 1) await createStory();
    const { nextCursor } = await list({ limit: 1, sort: 'created' });
    for (const cursor of [
      nextCursor ?? '',
      'x',
      '',
      Buffer.from('["board",0,"x","a"]').toString('base64url'),
      Buffer.from('["board",0,"","\\u0000"]').toString('base64url'),
    ]) {
      await expect(list({ cursor })).rejects.toMatchObject({ code: 'bad_request' });
    }
    for (const cursor of [
      '["updated","2026-02-31T00:00:00.000Z","' + newId() + '"]',
      '["updated","now","' + newId() + '"]',
    ]) {
      await expect(
        list({ sort: 'updated', cursor: Buffer.from(cursor).toString('base64url') }),
      ).rejects.toMatchObject({ code: 'bad_request' });
    }
    // A cursor inside of the canceled stories, with a filter that excludes them.
    const canceled = Buffer.from(JSON.stringify(['board', 2_147_483_647, '', 'a'])).toString('base64url');
    expect((await list({ cursor: canceled, status: 'ready' })).items).toEqual([]);
    expect((await list({ cursor: canceled, columnId: board.columns.ready, query: 'x' })).items).toEqual([]);
  });

  it('shows a private project to nobody else', async () => {
    const hidden = await arrangeBoard(world, people.orgId, { key: 'HID', visibility: 'private' });
    await expect(people.chloe.stories.list({ projectId: hidden.projectId })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(people.chloe.stories.list({ projectId: 'NONE' })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect((await people.dan.stories.list({ projectId: board.projectId })).items).toEqual([]);
  });
});
