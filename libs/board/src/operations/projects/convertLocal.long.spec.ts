import { expect, it } from '@jest/globals';
import { type InputOf } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { useWorld } from '@muster/testing';
import { noWorkHandlers } from '../../../test/board.ts';
import { wrongCounts } from '../../../test/true-counts.ts';
import { projects } from './handlers.ts';

const world = useWorld({ projects, inside: noWorkHandlers });

type Board = InputOf<typeof boardRegistry.projects.convertLocal>;

/** Refuses statements that could exceed the statement timeout on a busy server: many rows, or long texts. */
const refuseLargeStatements = async () => {
  await world.rows(`create function refuse_large_statement() returns trigger language plpgsql as $$
    begin
      if (select count(*) > 100 or sum(octet_length(n::text)) > 300000 from new_rows n) then
        raise exception 'the statement is too large';
      end if;
      return null;
    end $$`);
  for (const table of ['epics', 'stories', 'story_specs'])
    await world.rows(`create trigger refuses_large after insert on ${table}
      referencing new table as new_rows for each statement execute function refuse_large_statement()`);
};

it('brings in the largest board that the contract takes, in statements of limited size', async () => {
  await refuseLargeStatements();
  const { chloe } = await world.org();
  const board: Board = {
    ...{ localProjectId: 'laptop/max', key: 'MAX', name: 'Maximum' },
    epics: Array.from({ length: 500 }, (_, n) => ({ localId: `e${n}`, title: `Epic ${n}` })),
    stories: Array.from({ length: 2_000 }, (_, n) => ({
      localId: `s${n}`,
      title: `Story ${n}`,
      status: (['backlog', 'ready', 'in_progress', 'in_review', 'done', 'canceled'] as const)[n % 6],
      epicLocalId: `e${n % 500}`,
      spec: `# Story ${n}\n\n${`A line of story${n} about "quoted" and \\escaped words.\n`.repeat(65)}`,
    })),
  };
  const bytes = Buffer.byteLength(JSON.stringify(board));
  expect(bytes).toBeGreaterThan(7_000_000);
  expect(bytes).toBeLessThan(8 * 1024 * 1024);
  const answer = await chloe.projects.convertLocal(board);
  expect(Object.keys(answer.mapping.stories)).toHaveLength(2_000);
  expect(await wrongCounts(world, answer.project.id)).toEqual([]);
  expect(await chloe.projects.convertLocal(board)).toEqual(answer);
});
