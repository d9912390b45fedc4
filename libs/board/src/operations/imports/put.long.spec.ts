import { expect, it } from '@jest/globals';
import { useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../test/board.ts';
import { boardHandlers } from '../../index.ts';

const world = useWorld(boardHandlers);

/** 200 items with 500 comments each, in a body just below the limit. */
const largestPut = (body: string) =>
  Array.from({ length: 200 }, (_, item) => ({
    ...{ externalId: `${item}`, title: `Item ${item}` },
    comments: Array.from({ length: 500 }, (__, n) => ({
      ...{ externalId: `${n}`, authorName: 'Z', body, at: '2024-03-01T10:00:00Z' },
    })),
  }));

it('puts as many comments as the contract takes, and again unchanged', async () => {
  const { orgId, ana } = await world.org();
  await arrangeBoard(world, orgId);
  const items = largestPut('b');
  const bytes = Buffer.byteLength(JSON.stringify({ items }));
  expect(bytes).toBeGreaterThan(7_000_000);
  expect(bytes).toBeLessThan(8 * 1024 * 1024);
  const { import: begun } = await ana.imports.begin({ projectId: 'WEB', provider: 'jira', name: 'Large' });
  const put = async (some: typeof items) => {
    const { results } = await ana.imports.put({ importId: begun.id, items: some });
    return new Set(results.map(({ outcome }) => outcome));
  };
  expect(await put(items)).toEqual(new Set(['created']));
  expect(await put(items)).toEqual(new Set(['unchanged']));
  expect(await world.rows('select count(*)::int from comments where org_id = $1', orgId)).toEqual([
    { count: 100_000 },
  ]);
}, 600_000);
