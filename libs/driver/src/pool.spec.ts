import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cloneDatabase, type TestDatabase } from '@muster/testing';
import fc from 'fast-check';
import { newId } from './id.ts';
import { timestampToIso } from './pool.ts';

/** Formats a time like Postgres writes a timestamptz(3) in a UTC session: without trailing zeros of the fraction. */
const toPostgresTimestamp = (moment: Date): string =>
  moment
    .toISOString()
    .replace('T', ' ')
    .replace(/\.?0*Z$/, '+00')
    .replace(/:(\d)\+00$/, ':$10+00');

describe('toIso', () => {
  it.each([
    ['2026-11-21 09:30:00+00', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21 09:30:10+00', '2026-11-21T09:30:10.000Z'],
    ['2026-11-21 09:30:00.1+00', '2026-11-21T09:30:00.100Z'],
    ['2026-11-21 09:30:00.012+00', '2026-11-21T09:30:00.012Z'],
    // The functions clock_timestamp() and now() have microseconds.
    ['2026-11-21 09:30:00.123456+00', '2026-11-21T09:30:00.123Z'],
  ])('reads %s as %s', (text, iso) => {
    expect(timestampToIso(text)).toBe(iso);
  });

  it('reads every moment as it is', () => {
    const moments = fc.date({ min: new Date(0), max: new Date(Date.UTC(2200, 0, 1)), noInvalidDate: true });
    fc.assert(
      fc.property(moments, (moment) => {
        expect(timestampToIso(toPostgresTimestamp(moment))).toBe(moment.toISOString());
      }),
    );
  });
});

describe("a service's connection", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await cloneDatabase();
  });
  afterAll(() => database.close());

  it('goes by an index where the table was known to be empty when the statement was planned', async () => {
    const { app, owner } = database;
    const orgId = newId();
    await owner.query(`insert into orgs (id, slug, name, policy) values ($1, 'acme', 'Acme', '{}')`, [orgId]);
    await owner.query('analyze activity');
    const client = await app.connect();
    const scansOf = async (): Promise<number> => {
      await client.query('begin');
      await client.query(`select set_config('muster.org_id', $1, true)`, [orgId]);
      await client.query({
        name: 'an-event',
        text: 'select id from activity where org_id = $1 and seq = $2',
        values: [orgId, 7],
      });
      const { rows } = await client.query<{ scans: number }>(
        `select sum(seq_scan)::int as scans from pg_stat_xact_user_tables where schemaname = 'months' and relname like 'activity%'`,
      );
      await client.query('commit');
      return rows[0]?.scans ?? NaN;
    };
    try {
      expect(await scansOf()).toBe(0);
      await owner.query(
        `insert into activity (org_id, seq, id, kind, actor, subject, data)
         select $1, seq, uuidv7(), 'story.created', '{}', '{}', '{}' from generate_series(1, 500) seq`,
        [orgId],
      );
      expect(await scansOf()).toBe(0);
    } finally {
      client.release();
    }
  });
});
