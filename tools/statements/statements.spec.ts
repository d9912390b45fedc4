/** Every statement of the product fits the schema, its rows are what its author says, and each table has one owner. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrate } from '@muster/database';
import { Client } from 'pg';
import { type Postgres, startPostgres } from '../dev/postgres.ts';
import { readSources, type Sources } from './call-sites.ts';
import { type Collected, type Collection, collectStatements } from './collect.ts';
import { differences, type Stored } from './compare.ts';
import { type Column, describeStatement } from './describe.ts';
import { neverNull, unreached } from './exceptions.ts';
import { madeUpMark } from './values.ts';
import { otherWriters, ownedTables } from './owners.ts';
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

/** It writes the records of any table, as the file that describes them says. */
const ofRecords = 'libs/database/src/record.ts';

/** A list of columns by chance can name one twice, which no caller does. */
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
    const tooMany = [...missed].filter(([file, sites]) => sites.length > (unreached[file]?.[0] ?? 0));
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
          .filter(({ column, kind }) => kind !== 'null' || neverNull[file]?.[0].includes(column) !== true)
          .map(({ says }) => `${place}: ${says}`),
      );
      // Several sites may read the same: one of them is meant.
      if (differing.every((one) => one.length > 0)) for (const one of differing.flat()) wrong.add(one);
    }
    expect([...wrong]).toEqual([]);
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
          const isOther = otherWriters[table]?.some(([other]) => other === writer) === true;
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
