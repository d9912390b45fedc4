/** Tests that imports are idempotent and that undo restores the previous state, with random items. */
import { expect, it } from '@jest/globals';
import { useWorld } from '@muster/testing';
import fc from 'fast-check';
import { arrangeBoard } from '../../../test/board.ts';
import { allOf } from '../../../test/importing.ts';
import { wrongCounts } from '../../../test/true-counts.ts';
import { boardHandlers } from '../../index.ts';

const world = useWorld(boardHandlers);

const word = fc.constantFrom('a', 'b', 'c', 'd');
const comment = fc.record({
  externalId: word,
  authorName: word,
  body: word,
  at: fc.constantFrom('2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z'),
});
const item = fc.record(
  {
    externalId: word,
    title: word,
    spec: word,
    status: fc.constantFrom('backlog', 'in_review', 'done', 'canceled'),
    labels: fc.array(word, { maxLength: 3 }),
    epic: fc.record({ externalId: word, title: word }),
    blockedBy: fc.array(word, { maxLength: 2 }),
    comments: fc.array(comment, { maxLength: 3 }),
  },
  { requiredKeys: ['externalId', 'title'] },
);
const itemsOfOnePut = fc.uniqueArray(item, { selector: (one) => one.externalId, minLength: 1 });

it('put twice is put once, and undone it was never there, whatever is put', async () => {
  await fc.assert(
    fc.asyncProperty(itemsOfOnePut, async (items) => {
      const { orgId, ana } = await world.org();
      const { projectId } = await arrangeBoard(world, orgId);
      const empty = await allOf(world, orgId);
      const begin = async () =>
        (await ana.imports.begin({ projectId: 'WEB', provider: 'jira', name: 'x' })).import.id;
      const put = async (importId: string) =>
        new Set((await ana.imports.put({ importId, items })).results.map(({ outcome }) => outcome));

      const importId = await begin();
      expect(await put(importId)).toEqual(new Set(['created']));
      const once = await allOf(world, orgId);
      expect(await put(importId)).toEqual(new Set(['unchanged']));
      expect(await allOf(world, orgId)).toEqual(once);
      expect(await wrongCounts(world, projectId)).toEqual([]);

      await ana.imports.finish({ importId });
      const finished = await allOf(world, orgId);
      const again = await begin();
      expect(await put(again)).toEqual(new Set(['unchanged']));
      await ana.imports.finish({ importId: again });
      expect(await allOf(world, orgId)).toEqual(finished);

      await ana.imports.undo({ importId });
      expect(await allOf(world, orgId)).toEqual(empty);
      expect(await wrongCounts(world, projectId)).toEqual([]);
    }),
    { numRuns: 25 },
  );
});
