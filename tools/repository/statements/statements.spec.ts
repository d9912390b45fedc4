/**
 * Checks that every statement of the product fits the schema, that its rows match the declared types, and
 * that each table has one owner.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { migrate } from '@muster/migrations';
import { type Postgres, startPostgres } from '@muster/tools';
import { readSources, type Sources } from './call-sites.ts';
import { type Collected, type Collection, collectStatements } from './collect.ts';
import { differences, type Stored } from './compare.ts';
import { type Column, describeStatement } from './describe.ts';
import {
  neverNull,
  otherWriters,
  overOrganizations,
  ownedTables,
  unreached,
  writingOverOrganizations,
} from './lists.ts';
import { unpinnedIn } from './pins.ts';
import { comparedWithCoalesce } from './unindexed.ts';
import { madeUpMark } from './values.ts';
import { tablesWrittenBy } from './writes.ts';

let postgres: Postgres;
let client: Client;
let sources: Sources;
let collection: Collection;
let real: readonly Collected[];

beforeAll(async () => {
  postgres = await startPostgres({ durable: false });
  await migrate(postgres.url);
  client = new Client({ connectionString: postgres.url });
  await client.connect();
  sources = readSources();
  collection = await collectStatements(sources);
  real = collection.statements.filter(({ text }) => !text.includes(madeUpMark));
}, 240_000);
afterAll(async () => {
  await client.end();
  await postgres.stop();
});

/** The file whose functions build statements for any table, from a description of the table's record. */
const ofRecords = 'libs/driver/src/record.ts';

/** A random list of columns can name one column twice. No real caller does that. */
const byChance = /multiple assignments to same column/;

async function storedColumns(): Promise<(column: Column) => Stored> {
  const types = await client.query<{ id: number; name: string }>(
    'select oid::int as id, typname as name from pg_type',
  );
  const nullable = await client.query<{ id: string }>(
    `select attrelid || ' ' || attnum as id from pg_attribute where attnum > 0 and not attnotnull`,
  );
  const names = new Map(types.rows.map(({ id, name }) => [id, name]));
  const canBeNull = new Set(nullable.rows.map(({ id }) => id));
  return ({ typeId, tableId, number }) => ({
    type: names.get(typeId) ?? '',
    isNullable: canBeNull.has(`${tableId} ${number}`),
  });
}

describe('the statements of the product', () => {
  it('are all found, but those that are named with a reason', () => {
    const missed = Map.groupBy(collection.missed, ({ file }) => file);
    const tooMany = [...missed].filter(([file, sites]) => sites.length > (unreached.get(file) ?? 0));
    expect(tooMany.map(([, sites]) => sites.map(({ place }) => place))).toEqual([]);
  });

  it('fit the schema', async () => {
    const refused: string[] = [];
    for (const { text, file } of real) {
      const columns = await describeStatement(client, text);
      if (columns instanceof Error && !byChance.test(columns.message))
        refused.push(`${file}: ${columns.message} in ${text}`);
    }
    expect(refused).toEqual([]);
  });

  it('have the rows that their authors say: their columns, types, and what can be null', async () => {
    const storedOf = await storedColumns();
    const wrong = new Set<string>();
    for (const { text, sites } of real) {
      const columns = await describeStatement(client, text);
      if (columns instanceof Error) continue;
      const differing = sites.map(({ place, file, row }) =>
        (row === undefined ? [] : differences(sources.checker, row, columns, storedOf))
          .filter(({ column, kind }) => kind !== 'null' || neverNull[file]?.columns.includes(column) !== true)
          .map(({ says }) => `${place}: ${says}`),
      );
      // If identical templates occur in several places of the source, it is enough that one of them matches.
      if (differing.every((one) => one.length > 0)) for (const one of differing.flat()) wrong.add(one);
    }
    expect([...wrong]).toEqual([]);
  });
});

describe('the organization', () => {
  /**
   * The statements that are not limited to one organization, by their place in the source, each with a
   * message.
   */
  let over: ReadonlyMap<string, { readonly file: string; readonly says: string; readonly writes: boolean }>;
  beforeAll(async () => {
    const { rows } = await client.query<{ name: string }>(
      `select t.relname as name from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attname = 'org_id'
       where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p')`,
    );
    const columns = new Map([['orgs', 'id'], ...rows.map(({ name }) => [name, 'org_id'] as const)]);
    const found = new Map<string, { file: string; says: string; writes: boolean }>();
    for (const { text, file, sites } of real) {
      const tables = await unpinnedIn(text, (table) => columns.get(table));
      if (tables.length === 0) continue;
      const [{ file: where, place } = { file, place: file }] = sites;
      const writes = (await tablesWrittenBy(text)).size > 0;
      found.set(place, { file: where, says: `${place}: ${tables.join(', ')} in ${text}`, writes });
    }
    over = found;
  });

  /**
   * Lists all findings of a file that has more findings than the list allows, and listed files without
   * findings.
   */
  const differencesFrom = (
    listed: ReadonlyMap<string, number>,
    found: readonly { readonly file: string; readonly says: string }[],
  ): string[] => {
    const byFile = Map.groupBy(found, ({ file }) => file);
    return [
      ...[...byFile].flatMap(([file, all]) =>
        all.length > (listed.get(file) ?? 0) ? all.map(({ says }) => says) : [],
      ),
      ...[...listed.keys()]
        .filter((file) => !byFile.has(file))
        .map((file) => `${file} is listed without need`),
    ];
  };

  it('is a parameter beside each table that a statement names, but where it is listed that it is about all', () => {
    expect(differencesFrom(overOrganizations, [...over.values()])).toEqual([]);
  });

  it('is one wherever something is written, but for what is listed', () => {
    const writing = [...over.values()].filter(({ writes }) => writes);
    expect(differencesFrom(new Map(Object.entries(writingOverOrganizations)), writing)).toEqual([]);
  });

  it.each([
    ['where it stands', 'select from stories s where s.org_id = $1', []],
    ['with a cast', 'select from stories s where s.org_id = $1::uuid', []],
    ['by the function that says it', 'select from stories s where s.org_id = app.org_id()', []],
    [
      'through a join',
      'select from stories s join projects p on p.org_id = s.org_id where s.org_id = $1',
      [],
    ],
    [
      'through two',
      'select from a join b on b.org_id = a.org_id join c on b.org_id = c.org_id where c.org_id = $1',
      [],
    ],
    ['of organizations', 'select from orgs o where o.id = $1', []],
    ['of an insertion', 'insert into stories (org_id) values ($1)', []],
    ['nowhere', 'select from stories', ['stories']],
    ['in one of two', 'select from a where a.org_id = $1 union select from b', ['b']],
    [
      'in two of three',
      'select from a where org_id = $1 union all select from b union all select from c where org_id = $1',
      ['b'],
    ],
    ['where one of two has to hold', 'select from a where a.org_id = $1 or a.id = $2', ['a']],
    [
      'outside alone',
      'select from a where org_id = $1 and exists (select from b where b.org_id = a.org_id)',
      ['b'],
    ],
    ['of what is named before', 'with x as (select 1) select from x join b on b.org_id = x.org_id', ['b']],
    ['of what is updated', 'update a set n = 1 from b where b.org_id = $1', ['a']],
    ['of what is deleted', 'delete from a using b where a.org_id = b.org_id and b.org_id = $1', []],
    ['of what an insertion reads', 'insert into a (org_id) select org_id from b', ['b']],
    ['as another column', 'select from a where a.id = $1', ['a']],
  ])('is looked for %s', async (_where, text, unpinned) => {
    expect(await unpinnedIn(text, (table) => (table === 'orgs' ? 'id' : 'org_id'))).toEqual(unpinned);
  });
});

describe('a condition', () => {
  it('compares no column with a COALESCE of others, for which row security allows no index', async () => {
    const found = new Set<string>();
    for (const { text, file } of real)
      for (const column of await comparedWithCoalesce(text)) found.add(`${file}: ${column} in ${text}`);
    expect([...found]).toEqual([]);
  });

  it.each([
    ['select from m join g on m.id = coalesce(g.a, g.b)', ['m.id']],
    ['select from m where coalesce(a, b) = c', ['c']],
    ['select from m where id = coalesce($1, $2)', []],
    ['select from m where id = coalesce((select g.a from g), $1)', []],
    ['select from m join g on m.id = case when g.a is null then g.b else g.a end', []],
    ['update m set a = coalesce(b, c)', []],
  ])('is looked at in %s', async (text, columns) => {
    expect(await comparedWithCoalesce(text)).toEqual(columns);
  });
});

describe('a table', () => {
  it('is written by its owner, and by nobody else without a reason', async () => {
    const strangers = new Set<string>();
    const written = new Set<string>();
    for (const { text, file, sites } of real) {
      const tables = await tablesWrittenBy(text).catch(() => new Set<string>());
      const writers =
        sites.length > 0 ? sites.map((site) => (site.file === ofRecords ? file : site.file)) : [file];
      for (const table of tables)
        for (const writer of writers) {
          const project = writer.split('/').slice(0, 2).join('/');
          written.add(table);
          const isOther = otherWriters[table]?.[writer] !== undefined;
          if (ownedTables[project]?.includes(table) !== true && !isOther)
            strangers.add(`${writer} writes ${table}`);
        }
    }
    expect([...strangers]).toEqual([]);
    for (const table of Object.keys(otherWriters)) expect([...written]).toContain(table);
  });

  it('has one owner', async () => {
    const { rows } = await client.query<{ name: string }>(
      `select c.relname as name from pg_class c
       where c.relnamespace in ('public'::regnamespace, 'sign_in'::regnamespace) and c.relkind in ('r', 'p') and not c.relispartition`,
    );
    expect(Object.values(ownedTables).flat().toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
  });
});
