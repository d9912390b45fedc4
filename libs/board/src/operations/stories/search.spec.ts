import { beforeAll, expect, it } from '@jest/globals';
import { maxSearchedRows } from '@muster/driver';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { stories } from './handlers.ts';

const world = useWorld({ stories });

let people: PeopleOf<typeof world>;
let board: TestBoard;
/** The number of stories in each of the first two columns: more than a search examines for one page. */
const storiesPerProject = 3_000;

beforeAll(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  const actor = { kind: 'member', memberId: people.ana.me.memberId, agentId: null, name: 'Ana' };
  for (const [nth, status] of ['backlog', 'ready'].entries()) {
    await world.rows(
      `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, labels, created_by, updated_at)
       select c.org_id, gen_random_uuid(), c.project_id, $3::int + n, 'Story ' || n, c.status, c.id, 'a' || to_char(n, 'FM00000') || 'i',
         case when n = $4 then array[$6, 'Needs QA/' || $6] else '{}' end, $5, now() - make_interval(secs => $3::int + n)
       from board_columns c, generate_series(1, $4::int) n where c.org_id = $1 and c.status = $2`,
      ...[
        people.orgId,
        status,
        nth * storiesPerProject,
        storiesPerProject,
        actor,
        nth === 0 ? 'rare' : 'Rare',
      ],
    );
  }
});

it.each(['board', 'updated', 'created'] as const)(
  'a search in the order %s finds what few stories have on one page, however many there are',
  async (sort) => {
    for (const filter of [
      { query: `Story ${storiesPerProject}` },
      ...[
        { label: 'rare' },
        { label: 'RARE' },
        { label: 'needs qa/rare' },
        { label: 'RARE', query: 'story' },
      ],
      { query: `web-${2 * storiesPerProject}` },
    ]) {
      const found: string[] = [];
      let pages = 0;
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page: Awaited<ReturnType<typeof people.dan.stories.list>> = await people.dan.stories.list({
          ...{ projectId: board.projectId, sort, ...filter },
          ...(cursor !== undefined && { cursor }),
        });
        found.push(...page.items.map(({ key }) => key));
        pages += 1;
        cursor = page.nextCursor;
      }
      const all = [`WEB-${storiesPerProject}`, `WEB-${2 * storiesPerProject}`];
      expect(found.sort()).toEqual(filter.query?.startsWith('web') === true ? all.slice(1) : all);
      expect(pages).toBe(1);
      expect(2 * storiesPerProject).toBeGreaterThan(maxSearchedRows);
    }
  },
);

it('a search goes on within a column, and to no story twice', async () => {
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: Awaited<ReturnType<typeof people.dan.stories.list>> = await people.dan.stories.list({
      ...{ projectId: board.projectId, query: '99', limit: 7 },
      ...(cursor !== undefined && { cursor }),
    });
    seen.push(...page.items.map(({ key }) => key));
    cursor = page.nextCursor;
  }
  const all = await world.rows<{ key: string }>(
    `select 'WEB-' || number as key from stories where org_id = $1 and (title like '%99%' or number::text like '%99%')`,
    people.orgId,
  );
  expect(seen).toHaveLength(all.length);
  expect(new Set(seen)).toEqual(new Set(all.map(({ key }) => key)));
});
