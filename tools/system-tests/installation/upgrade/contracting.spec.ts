import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { repositoryRoot } from '@muster/tools';
import { contractingIn, wrongAlone } from './contracting.ts';

const folders = [
  'libs/migrations/migrations',
  'libs/migrations/functions',
  'apps/license-service/src/migrations',
];
const files = (
  await Promise.all(
    folders.map(async (folder) =>
      (await readdir(path.join(repositoryRoot, folder)))
        .toSorted()
        .map((file) => ({ folder, name: path.basename(file, '.sql'), file: path.join(folder, file) })),
    ),
  )
).flat();

/**
 * The findings in migrations from before the first release. No older code runs while they do. After the first
 * release this list may only shrink.
 */
const fromTheStart: Readonly<Record<string, readonly string[]>> = {
  '0002_products': [
    'constrains plans (product, name)',
    'demands that licenses (product, order_ref, order_line) is unique',
    'holds up writers of licenses',
  ],
  '0003_operators': [
    ...['constrains license_events (actor)', 'constrains license_events (kind)'],
    ...['holds up writers of licenses', 'holds up writers of licenses'],
  ],
};

const whatIn = async (sql: string): Promise<string[]> => (await contractingIn(sql)).map(({ what }) => what);

describe('a migration, or a function file', () => {
  it.each(files)(
    '$name takes nothing away that the release before needs, and holds nobody up',
    async ({ folder, name, file }) => {
      const findings = await contractingIn(await readFile(path.join(repositoryRoot, file), 'utf8'));
      const unmarked = findings.filter(({ contractOf }) => contractOf === undefined).map(({ what }) => what);
      expect(unmarked).toEqual(fromTheStart[name] ?? []);
      for (const { contractOf } of findings) {
        if (contractOf === undefined) continue;
        // The named migration must be an earlier one of the same schema.
        const migrations = folder === 'libs/migrations/functions' ? 'libs/migrations/migrations' : folder;
        if (folder === migrations) expect(contractOf < name).toBe(true);
        expect(files).toContainEqual(expect.objectContaining({ folder: migrations, name: contractOf }));
      }
    },
  );
});

describe('found out is a migration that', () => {
  const cases: [what: string, sql: string][] = [
    ['drops the column stories.points', 'alter table stories drop column points'],
    ['drops the table stories', 'drop table stories'],
    ['drops the view board', 'drop view board'],
    ['drops the function enter', 'drop function app.enter(bytea)'],
    ['drops the policy stories.members', 'drop policy members on stories'],
    ['drops the trigger stories.counts', 'drop trigger counts on stories'],
    ['renames stories.points to size', 'alter table stories rename column points to size'],
    ['renames stories to cards', 'alter table stories rename to cards'],
    ['demands the new column stories.size', 'alter table stories add column size text not null'],
    ['demands stories.size', 'alter table stories alter column size set not null'],
    ['takes the default from stories.size', 'alter table stories alter column size drop default'],
    ['changes the type of stories.size', 'alter table stories alter column size type bigint'],
    ['constrains stories (size)', `alter table stories add constraint s check (length(size) < 3)`],
    ['constrains stories (epic_id)', 'alter table stories add foreign key (epic_id) references epics'],
    ['constrains stories (size)', 'alter table stories add unique (size)'],
    [
      'constrains stories (org_id, parent_id)',
      'alter table stories add column parent_id uuid; alter table stories add foreign key (org_id, parent_id) references stories (org_id, id) match full',
    ],
    [
      'demands that stories (org_id, size) is unique',
      'create unique index concurrently on stories (org_id, size)',
    ],
    ['hides rows of stories', 'alter table stories enable row level security'],
    ['revokes rights to stories', 'revoke select on stories from muster_app'],
    ['truncates', 'truncate stories'],
    ['holds up writers of stories', 'create index on stories (size)'],
    [
      'holds up writers of stories',
      'alter table stories add column size text; create index on stories (size)',
    ],
    [
      'writes all rows of stories anew',
      'alter table stories add column size int generated always as (length(title)) stored',
    ],
  ];
  it.each(cases)('%s', async (what, sql) => {
    expect(await whatIn(`create table pages (id uuid);\n${sql};`)).toEqual([what]);
  });
});

describe('a migration may', () => {
  const cases: [what: string, sql: string][] = [
    ['add a column that may be empty', 'alter table stories add column size text'],
    ['add one with a default', `alter table stories add column size text not null default 'small'`],
    [
      'constrain what it adds',
      `alter table stories add column size text check (size <> ''), add constraint s unique (size);
       create unique index concurrently on stories (size)`,
    ],
    [
      'do anything to a table that it makes',
      'create table sizes (id int); alter table sizes add column a int not null; alter table sizes rename to s',
    ],
    [
      'refer to another table by what it adds and by older columns',
      'alter table stories add column parent_id uuid; alter table stories add foreign key (org_id, parent_id) references stories (org_id, id) not valid',
    ],
    ['replace a policy', 'drop policy p on stories; create policy p on stories using (true)'],
    ['index, or stop to', 'create index concurrently on stories (size); drop index stories_old'],
    ['index what it makes', 'create table sizes (id int); create index on sizes (id)'],
    [
      'take back the rights to what it makes',
      'create function f() returns int language sql as $$ select 1 $$; revoke all on function f() from public',
    ],
  ];
  it.each(cases)('%s', async (_what, sql) => {
    expect(await whatIn(sql)).toEqual([]);
  });

  it('take back rights to a function that it states', async () => {
    const body = 'language sql as $$ select 1 $$';
    expect(
      await whatIn(
        `create or replace function f() returns int ${body}; revoke all on function f() from public`,
      ),
    ).toEqual([]);
    expect(
      await whatIn(`drop function if exists f(int); create or replace function f() returns int ${body}`),
    ).toEqual(['drops the function f']);
  });

  it('take away at last what an older one made needless, and says which', async () => {
    const sql = `-- Sizes, which stories have had since 0022.
      alter table stories add column at timestamptz;
-- contract of 0022_story_size: the release before reads sizes alone.
alter table stories drop column points;
drop table estimates;`;
    expect(await contractingIn(sql)).toEqual([
      { what: 'drops the column stories.points', contractOf: '0022_story_size' },
      { what: 'drops the table estimates', contractOf: undefined },
    ]);
  });
});

describe('a migration outside a transaction', () => {
  const what = `-- outside a transaction: the index is built beside those who write.
drop index concurrently if exists stories_size;
create index concurrently stories_size on stories (size);
`;

  it('builds and drops indexes beside others, from the start whenever it is run', async () => {
    expect(await wrongAlone(what)).toEqual([]);
  });

  const cases: [what: string, sql: string][] = [
    ['does something else', `${what}update stories set size = 1;`],
    ['builds stories_size without dropping it first', what.replace(/^drop.*\n/m, '')],
    ['builds stories_size in front of writers', what.replace('create index concurrently', 'create index')],
    ['has two statements in a line', `${what}drop index concurrently a; drop index concurrently b;`],
  ];
  it.each(cases)('is refused where it %s', async (wrong, sql) => {
    expect(await wrongAlone(sql)).toContain(wrong);
  });

  it('says so, or is in one', async () => {
    for (const { file } of files) {
      const sql = await readFile(path.join(repositoryRoot, file), 'utf8');
      expect({ file, wrong: await wrongAlone(sql) }).toEqual({ file, wrong: [] });
    }
    expect(await wrongAlone('create index concurrently a on stories (size);')).toEqual([
      'is in a transaction, in which no index is built beside others',
    ]);
  });
});
