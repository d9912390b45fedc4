/** Tests the monthly partitions of growing tables, from which old rows are dropped without being read. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { bindStatement, newId, sql } from '@muster/driver';
import { type People, useWorld } from '@muster/testing';
import { acrossOrganizations } from './system.ts';
import { operatorTrailStatement } from './trail.ts';

const world = useWorld({});
const kept = ['activity', 'audit', 'execution_events'];

const keepMonths = (auditDays: number | null): Promise<{ month: string; done: string }[]> =>
  world.rows(`select month, done from app.keep_months($1)`, auditDays);

interface Month {
  readonly table: string;
  readonly month: string;
}
const months = async (): Promise<Month[]> =>
  world.rows<{ table: string; month: string }>(
    `select m.kept::text as table, c.relname as month from app.months() m join pg_class c on c.oid = m.held order by 2`,
  );
/** Returns the name of a table's partition, `ahead` months from now. */
const name = async (table: string, ahead: number): Promise<string> => {
  const [row] = await world.rows<{ name: string }>(
    `select $1 || to_char(now() at time zone 'UTC' + make_interval(months => $2), '_YYYY_MM') as name`,
    table,
    ahead,
  );
  return row?.name ?? '';
};

const audit = (orgId: string, seq: number, age: string): Promise<unknown> =>
  world.rows(
    `insert into audit (org_id, seq, id, at, actor, operation, outcome, request_id)
     values ($1, $2, $3, now() - $4::interval, '{}', 'x', 'allowed', 'r')`,
    ...[orgId, seq, newId(), age],
  );
const placeOf = async (orgId: string): Promise<string[]> =>
  (
    await world.rows<{ place: string }>(
      'select c.relname as place from audit a join pg_class c on c.oid = a.tableoid where a.org_id = $1 order by seq',
      orgId,
    )
  ).map(({ place }) => place);

/** Creates a partition as if it had been created that many months ago. */
async function createMonthPartition(table: string, ahead: number): Promise<string> {
  const made = await name(table, ahead);
  const [bounds] = await world.rows<{ sql: string }>(
    `select format('create table months.%I partition of %I for values from (%L) to (%L)', $1::text, $2::text, m, m + interval '1 month') as sql
     from (select date_trunc('month', now() + make_interval(months => $3), 'UTC') as m) b`,
    ...[made, table, ahead],
  );
  await world.rows(bounds?.sql ?? '');
  await world.rows(`alter table months.${made} enable row level security`);
  return made;
}

describe('the months', () => {
  let people: People;
  beforeEach(async () => {
    people = await world.org();
    await keepMonths(null);
  });

  it('are there from the first day, with two ahead, of each table that is kept by month', async () => {
    const wanted = kept.map((table) => `${table}_else`);
    for (const table of kept) for (const ahead of [0, 1, 2]) wanted.push(await name(table, ahead));
    expect((await months()).map(({ month }) => month)).toEqual(wanted.sort());
    expect(await keepMonths(null)).toEqual([]);
  });

  it('are made when they are missing, with the keys, indexes and row security of their table', async () => {
    const last = await name('audit', 2);
    await world.rows(`drop table months.${last}`);
    expect(await keepMonths(null)).toEqual([{ month: last, done: 'made' }]);
    const shape = (month: string) =>
      world.rows(
        `select c.relrowsecurity as guarded,
           (select array_agg(pg_get_constraintdef(k.oid) order by 1) from pg_constraint k where k.conrelid = c.oid and k.contype <> 'n') as keys,
           (select array_agg(replace(replace(pg_get_indexdef(i.indexrelid), c.relname, ''), i.indexrelid::regclass::text, '') order by i.indkey::text)
            from pg_index i where i.indrelid = c.oid and i.indisvalid) as indexes
         from pg_class c where c.relname = $1`,
        month,
      );
    const [made] = await shape(last);
    expect(made).toMatchObject({
      guarded: true,
      keys: expect.arrayContaining([expect.stringContaining('PRIMARY KEY (org_id, seq, at)')]),
    });
    const [{ n } = { n: 0 }] = await world.rows<{ n: number }>(
      `select count(*)::int as n from pg_index where indrelid = 'audit'::regclass`,
    );
    const { indexes } = made as { indexes: string[] };
    expect(indexes).toHaveLength(n);
  });

  it('that ended longer ago than anybody keeps audit entries go, with what is in them; others and other tables stay', async () => {
    const [old, young, activity] = [
      await createMonthPartition('audit', -5),
      await createMonthPartition('audit', -3),
      await createMonthPartition('activity', -5),
    ];
    for (const [seq, age] of [
      [1, '5 months'],
      [2, '3 months'],
      [3, '0 days'],
    ] as const)
      await audit(people.orgId, seq, age);
    expect(await placeOf(people.orgId)).toEqual([old, young, await name('audit', 0)]);
    expect(await keepMonths(null)).toEqual([]);
    expect(await keepMonths(0)).toEqual([]);
    expect(await keepMonths(100)).toEqual([{ month: old, done: 'dropped' }]);
    expect(await placeOf(people.orgId)).toEqual([young, await name('audit', 0)]);
    expect((await months()).map(({ month }) => month)).toEqual(expect.arrayContaining([young, activity]));
    await world.rows(`drop table months.${young}, months.${activity}`);
  });

  it('are done without where rows came before anybody made them: nothing is lost and nothing fails', async () => {
    const last = await name('audit', 2);
    await world.rows(`drop table months.${last}`);
    await audit(people.orgId, 1, '-2 months');
    expect(await keepMonths(null)).toEqual([]);
    expect(await placeOf(people.orgId)).toEqual(['audit_else']);
    await world.rows(`delete from audit where org_id = $1`, people.orgId);
    expect(await keepMonths(null)).toEqual([{ month: last, done: 'made' }]);
  });

  it('do not begin to count anew: a number of a stream comes once, whatever month it is in', async () => {
    const before = await createMonthPartition('audit', -1);
    const say = (): Promise<unknown> => {
      const statement = bindStatement(operatorTrailStatement('operators.try', 'x'), people.orgId);
      return world.rows(statement.sql, ...statement.parameters);
    };
    await say();
    await world.rows(`update audit set at = at - interval '1 month' where org_id = $1`, people.orgId);
    await Promise.all(Array.from({ length: 8 }, say));
    const rows = await world.rows<{ seq: number }>(
      'select seq from audit where org_id = $1 order by seq',
      people.orgId,
    );
    expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect((await placeOf(people.orgId))[0]).toBe(before);
    await world.rows(`delete from audit where org_id = $1`, people.orgId);
    await world.rows(`drop table months.${before}`);
  });

  it('give way to somebody who works on the table, and are made the next time', async () => {
    const last = await name('audit', 2);
    await world.rows(`drop table months.${last}`);
    const reader = await world.database.owner.connect();
    try {
      await reader.query('begin; select count(*) from audit');
      await expect(keepMonths(null)).rejects.toMatchObject({ code: '55P03' });
    } finally {
      await reader.query('rollback');
      reader.release();
    }
    expect(await keepMonths(null)).toEqual([{ month: last, done: 'made' }]);
  });

  it('are for the worker to keep, and for no service to reach', async () => {
    const { app } = world.database;
    for (const sql of ['select * from app.keep_months(null)', 'select * from months.audit_else'])
      await expect(app.query(sql)).rejects.toMatchObject({ code: '42501' });
    await expect(
      acrossOrganizations(app, (db) => db.all(sql`select from months.audit_else`)),
    ).rejects.toMatchObject({ sqlState: '42501' });
    await acrossOrganizations(app, (db) => db.all(sql`select from app.keep_months(null)`));
  });
});
