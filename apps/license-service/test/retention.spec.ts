/** Tests that each table of the service has a retention rule, and that old refusal counts are deleted. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommandLine } from '../src/command-line.ts';
import { retention } from '../src/operators/retention.ts';
import { type LicenseWorld, openLicenseWorld } from './world.ts';

let world: LicenseWorld;
beforeAll(async () => {
  world = await openLicenseWorld();
});
afterAll(() => world.close());

const purge = async (...args: string[]): Promise<{ code: number; said: string }> => {
  let said = '';
  const add = (text: string): void => {
    said += text;
  };
  const code = await runCommandLine(['purge', ...args, '--json'], {
    environment: { DATABASE_URL: world.url },
    readLines: async () => [],
    writeStdout: add,
    writeStderr: add,
  });
  return { code, said };
};

describe('the retention of the license service', () => {
  it('says of each table what becomes of its rows, and of no other', async () => {
    const tables = await world.rows<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'licenses' order by 1`,
    );
    expect(Object.keys(retention)).toEqual(tables.map(({ name }) => name));
  });

  it('loses refusals of long ago, as many as there are, and keeps a year, the events and the licenses', async () => {
    const { id } = await world.issue();
    await world.rows(
      `insert into licenses.license_denials (license_id, day, outcome, count, last_at)
       select $1, (now() at time zone 'UTC')::date - age, 'n' || n, 1, now() - make_interval(days => age)
       from unnest(array[1, 365, 366, 400]) age, generate_series(1, 1500) n`,
      id,
    );
    const events = await world.rows('select id from licenses.license_events');
    expect(await purge('--days', '35')).toMatchObject({
      code: expect.any(Number),
      said: expect.stringContaining('36 days'),
    });
    const { code, said } = await purge();
    expect({ code, ...(JSON.parse(said) as object) }).toEqual({ code: 0, removed: 3_000 });
    expect(
      await world.rows(
        `select (now() at time zone 'UTC')::date - day as age, count(*)::int as n from licenses.license_denials group by day order by 1`,
      ),
    ).toEqual([
      { age: 1, n: 1_500 },
      { age: 365, n: 1_500 },
    ]);
    expect(await world.rows('select id from licenses.license_events')).toEqual(events);
  });
});
