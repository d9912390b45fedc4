import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Client, MusterError, NotFoundError } from '@muster/client';
import { type Event, type StoryCard } from '@muster/contract';
import { waitUntil } from '@muster/testing';
import { Board, Boards, type CardsChange } from './boards.ts';
import { createProjectSource, createSearchSource } from './card-source.ts';
import { staleQueryKeys } from './stale.ts';

const card = (id: string) => ({ id, key: `WEB-${id}`, title: id, rank: id, columnId: 'c', version: 1 });
const refused = { code: 'not_found', message: 'No.', status: 404, requestId: 'r', details: {} } as const;
type Answer = { readonly items: object[]; readonly nextCursor: string | null } | Error;

describe('the reload of a board', () => {
  let answers: Answer[] = [];
  let asked = 0;
  const client = {
    projects: {
      get: () => Promise.resolve({ project: { id: 'p' }, columns: [{ id: 'c', archivedAt: null }] }),
    },
    stories: {
      list: () => {
        asked += 1;
        const answer = answers.shift() ?? new Error('asked too often');
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    },
  } as unknown as Client;
  const shown = (board: Board) => {
    const { state, areAllCardsLoaded, lanes } = board.view();
    return [state, areAllCardsLoaded, lanes.flatMap(({ cards }) => cards.map(({ id }) => id)).join('')];
  };
  const whole = (...ids: string[]): Answer => ({ items: ids.map(card), nextCursor: null });
  const pass = (millis: number): Promise<void> => jest.advanceTimersByTimeAsync(millis);
  /** Opens a board whose API calls get these responses, and waits until the board has loaded once. */
  async function open(...given: Answer[]): Promise<Board> {
    answers = given;
    asked = 0;
    const board = new Board(client, createProjectSource(client, 'WEB'));
    await pass(0);
    return board;
  }
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is retried after a failure while the known cards stay visible', async () => {
    const board = await open(whole('1'), new Error('no answer'), new Error('no answer'), whole('1', '2'));
    await board.reload();
    expect(shown(board)).toEqual(['ready', true, '1']);
    await pass(10_000);
    expect([shown(board), asked]).toEqual([['ready', true, '12'], 4]);
  });

  it('ends a search over all projects at its limit, loads more on demand, and stops when it is closed', async () => {
    const limits: unknown[] = [];
    const search = {
      stories: {
        search: ({ limit, cursor = '0' }: { readonly limit: number; readonly cursor?: string }) => {
          limits.push(limit);
          const first = Number(cursor);
          const items = Array.from({ length: limit }, (_, index) => card(`${first + index}`));
          return Promise.resolve({ items, nextCursor: String(first + limit) });
        },
      },
    } as unknown as Client;
    const board = new Board(search, createSearchSource(search, {}));
    await pass(0);
    const seen = () => [[...board.cards()].length, board.view().areAllCardsLoaded, board.view().hasMore];
    expect([seen(), limits.length]).toEqual([[1_000, true, true], 5]);
    await board.loadMore();
    expect([seen(), limits.length]).toEqual([[2_000, true, true], 10]);
    const boards = new Boards(search);
    const closed = boards.openSearch({});
    const other = boards.openSearch({});
    const before = limits.length;
    boards.closeSearch(closed);
    await pass(0);
    expect([[...closed.cards()].length, limits.length - before]).toEqual([0, 4]);
    // The cards of a search are not in columns.
    boards.handleEvent({ kind: 'column.updated', subject: { type: 'column' } } as unknown as Event);
    await pass(0);
    expect([[...other.cards()].length, limits.length - before]).toEqual([1_000, 4]);
  });

  it('fetches the cards of the former and the new parent of a changed card', async () => {
    const child = (parentId: string) => ({ items: [{ ...card('1'), parentId }], nextCursor: null });
    const board = await open({
      items: [{ ...card('1'), parentId: '2' }, card('2'), card('3')],
      nextCursor: null,
    });
    answers = [child('3'), whole('2', '3')];
    board.refreshCards(['1']);
    await pass(1_000);
    expect([asked, answers]).toEqual([3, []]);
  });

  it('completes after one of its pages failed', async () => {
    const first: Answer = { items: [card('1')], nextCursor: 'next' };
    const board = await open(first, new Error('no answer'), first, whole('2'));
    expect(shown(board)).toEqual(['ready', false, '1']);
    await pass(10_000);
    expect(shown(board)).toEqual(['ready', true, '12']);
  });

  it('is not retried for a project that has become hidden, and shows none of its cards', async () => {
    const board = await open(whole('1'), new NotFoundError(refused));
    await board.reload();
    await pass(10_000);
    expect([shown(board)[0], asked]).toEqual(['failed', 2]);
    const heard = await open(whole('1'), new NotFoundError(refused));
    heard.refreshCards(['1']);
    await pass(10_000);
    expect([shown(heard)[0], asked]).toEqual(['failed', 2]);
  });

  it.each(['member.removed', 'member.departed', 'agent.retired'] as const)(
    'happens after %s, which ends leases and assignments of any story',
    async (kind) => {
      answers = [whole('1'), whole('1', '2')];
      const boards = new Boards(client);
      const board = boards.getOrCreate('WEB');
      await pass(0);
      const subject = { type: 'member', id: 'm', key: null, title: 'Ben', projectId: null };
      const event = { kind, subject, projectId: null } as unknown as Event;
      boards.handleEvent(event);
      await pass(0);
      expect(shown(board)).toEqual(['ready', true, '12']);
      expect(staleQueryKeys(event)).toEqual(expect.arrayContaining([['story'], ['work'], ['reviews']]));
    },
  );

  it('is left to the reader if the first load failed', async () => {
    const board = await open(new Error('no answer'));
    await pass(10_000);
    expect([shown(board)[0], asked]).toEqual(['failed', 1]);
  });
});

describe('a write to a newer version of a card', () => {
  const mismatch = new MusterError({
    ...{ code: 'conflict', message: 'Newer.', status: 409, requestId: 'r' },
    details: { reason: 'version_mismatch' },
  });
  /** Opens a board whose card someone else has changed since it was loaded. */
  async function openAgainst(theirs: Partial<StoryCard>) {
    const current = { ...card('1'), ...theirs, version: 2 };
    const versions: number[] = [];
    const write = ({ expectedVersion, ...fields }: { expectedVersion: number }) => {
      versions.push(expectedVersion);
      return expectedVersion === 2
        ? Promise.resolve({ story: { ...current, ...fields, version: 3 }, warnings: [] })
        : Promise.reject(mismatch);
    };
    let reads = 0;
    const list = () => {
      // The board loads when it is created and when it is reloaded; the write fetches the card once more.
      reads += 1;
      const items = [reads > 2 ? current : { ...card('1'), priority: 'none' }];
      return Promise.resolve({ items, nextCursor: null });
    };
    const get = () => Promise.resolve({ project: { id: 'p' }, columns: [{ id: 'c', archivedAt: null }] });
    const client = { projects: { get }, stories: { list, update: write, reorder: write } };
    const board = new Board(
      client as unknown as Client,
      createProjectSource(client as unknown as Client, 'WEB'),
    );
    await board.reload();
    return { board, versions, known: board.card('1') as StoryCard };
  }

  it('is sent again if someone else changed something else', async () => {
    const { board, versions, known } = await openAgainst({ title: 'Theirs', priority: 'none' });
    expect(await board.setPriority(known, 'high')).toMatchObject({ type: 'changed' });
    expect([versions, board.card('1')]).toEqual([[1, 2], expect.objectContaining({ priority: 'high' })]);
  });

  it('shows their version if they changed the same', async () => {
    const { board, versions, known } = await openAgainst({ priority: 'low', rank: '5' });
    const met = { type: 'met', theirs: { priority: 'low' } };
    expect(await board.setPriority(known, 'high')).toMatchObject(met);
    expect(await board.move('1', { columnId: 'c', beforeId: null }, known)).toMatchObject(met);
    expect([versions, board.card('1')?.priority]).toEqual([[1, 1], 'low']);
  });
});

describe('a change of several cards', () => {
  const results = (found: Record<string, string | null>) => ({
    results: Object.entries(found).map(([storyId, reason]) => ({
      ...{
        storyId,
        outcome: reason === null ? 'changed' : 'refused',
        reason,
        message: reason && `${reason}.`,
      },
      version: null,
    })),
  });

  it('is one call, and a second one for cards that someone else changed elsewhere', async () => {
    const sent: unknown[] = [];
    const answers = [
      results({ 1: null, 2: 'version_mismatch', 3: 'version_mismatch', 4: 'policy' }),
      results({ 2: null }),
    ];
    let listed = 0;
    const before = ['1', '2', '3', '4'].map((id) => ({ ...card(id), priority: 'none' }));
    const after = before.map((one) => ({ ...one, version: 2, ...(one.id === '3' && { priority: 'low' }) }));
    const client = {
      projects: { get: async () => ({ project: { id: 'p' }, columns: [{ id: 'c', archivedAt: null }] }) },
      stories: {
        list: async ({ storyIds }: { storyIds?: string[] }) => {
          listed += 1;
          const items = storyIds === undefined ? before : after.filter(({ id }) => storyIds.includes(id));
          return { items, nextCursor: null };
        },
        updateMany: async (params: unknown) => {
          sent.push(params);
          return answers.shift();
        },
      },
    };
    const board = new Board(
      client as unknown as Client,
      createProjectSource(client as unknown as Client, 'WEB'),
    );
    await board.reload();
    listed = 0;
    const set = { priority: 'high' } as const;
    const outcomes = await board.changeMany([...board.cards()], {
      set,
      isUntouched: (known, theirs) => known.priority === theirs.priority,
    });
    expect(outcomes).toEqual([
      { type: 'changed' },
      { type: 'changed' },
      { type: 'met', theirs: expect.objectContaining({ id: '3', priority: 'low' }) },
      { type: 'refused', error: 'policy.' },
    ]);
    expect(sent).toEqual([
      { storyIds: ['1', '2', '3', '4'], set, expectedVersions: { 1: 1, 2: 1, 3: 1, 4: 1 } },
      { storyIds: ['2'], set, expectedVersions: { 2: 2 } },
    ]);
    expect(listed).toBe(2);
  });

  it('shows the new values before the response, and the former ones again if the call fails', async () => {
    let fail: (error: Error) => void = () => undefined;
    const before = { ...card('1'), status: 'ready', epicId: null, dueDate: null, priority: 'none' };
    const columns = ['c', 'd'].map((id) => ({ id, archivedAt: null, status: id === 'd' ? 'done' : 'ready' }));
    const client = {
      projects: { get: async () => ({ project: { id: 'p' }, columns }) },
      stories: {
        list: async () => ({ items: [before], nextCursor: null }),
        updateMany: () => new Promise((_, reject) => void (fail = reject)),
      },
    };
    const board = new Board(
      client as unknown as Client,
      createProjectSource(client as unknown as Client, 'WEB'),
    );
    await board.reload();
    const sets: readonly (readonly [CardsChange['set'], Partial<StoryCard>])[] = [
      [{ status: 'in_review' }, { status: 'in_review' }],
      [{ columnId: 'd' }, { status: 'done' }],
      [{ epicId: 'e' }, { epicId: 'e' }],
      [{ dueDate: '2099-01-31' }, { dueDate: '2099-01-31' }],
    ];
    for (const [set, shown] of sets) {
      const changing = board.changeMany([...board.cards()], { set, isUntouched: () => true });
      expect(board.card('1')).toEqual({ ...before, ...shown });
      fail(new Error('no answer'));
      await changing;
      await waitUntil(async () => isDeepStrictEqual(board.card('1'), before));
    }
  });

  it('is refused for all cards if the call fails', async () => {
    const error = new Error('no answer');
    const client = {
      projects: { get: async () => ({ project: { id: 'p' }, columns: [] }) },
      stories: {
        list: async () => ({ items: [card('1'), card('2')], nextCursor: null }),
        updateMany: () => Promise.reject(error),
      },
    };
    const board = new Board(
      client as unknown as Client,
      createProjectSource(client as unknown as Client, 'WEB'),
    );
    await board.reload();
    const change = { set: { status: 'canceled' }, isUntouched: () => true } as const;
    const refused = { type: 'refused', error };
    expect(await board.changeMany([...board.cards()], change)).toEqual([refused, refused]);
  });
});
