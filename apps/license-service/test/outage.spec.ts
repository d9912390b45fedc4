/** Tests an outage of Postgres: no refusals, no crash, and recovery without a restart. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type BreakableRelay, startBreakableRelay } from '@muster/testing';
import { pino } from 'pino';
import { type LicenseWorld, noLimits, openLicenseWorld, waitUntil } from './world.ts';

let world: LicenseWorld;
let breakableRelay: BreakableRelay;
beforeAll(async () => {
  world = await openLicenseWorld();
  breakableRelay = await startBreakableRelay(world.url);
});
afterAll(async () => {
  await world.close();
  await breakableRelay.close();
});

it('answers 503 and retry while Postgres is away, and goes on when it is back', async () => {
  // The low failure limits would refuse calls if an outage were counted as a failure of the caller.
  const lines: string[] = [];
  const service = await world.start({
    logger: pino({}, { write: (line: string) => void lines.push(line) }),
    environment: {
      ...noLimits,
      DATABASE_URL: breakableRelay.url,
      LIMIT_IP_FAIL: '2/3600',
      LIMIT_KEY_FAIL: '2/3600',
    },
  });
  const { key } = await world.issue();
  expect((await service.activate(key, 'm')).status).toBe(200);
  breakableRelay.cut();
  for (const ask of ['activate', 'check', 'release'] as const) {
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await service[ask](key, 'm');
      expect([answer.status, answer.json['code']]).toEqual([503, 'unavailable']);
      expect(answer.json['details']).toMatchObject({ reason: 'database', retryable: true });
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(answer.headers.get('license-verdict')).toBe('retry');
      expect(answer.headers.get('signature')).toContain('license=');
    }
  }
  // The log contains the refusal that the caller got, and no internal error.
  const outcomes = lines
    .filter((line) => line.includes('"msg":"license"'))
    .map((line): unknown => JSON.parse(line));
  expect(outcomes.slice(-6)).toEqual(Array(6).fill(expect.objectContaining({ outcome: 'database' })));
  // The service refuses an invalid key without asking the database.
  expect((await service.activate('nonsense', 'm')).status).toBe(400);
  await waitUntil(async () => (await service.call('/readyz')).status === 503);
  expect((await service.call('/livez')).status).toBe(200);
  breakableRelay.restore();
  await waitUntil(async () => (await service.check(key, 'm')).status === 200);
  expect((await service.activate(key, 'm')).status).toBe(200);
  await waitUntil(async () => (await service.call('/readyz')).status === 200);
});

it('starts without Postgres, says retry, and works as soon as it is there', async () => {
  breakableRelay.cut();
  const service = await world.start({ environment: { ...noLimits, DATABASE_URL: breakableRelay.url } });
  const { key } = await world.issue();
  const answer = await service.activate(key, 'm');
  expect([answer.status, answer.headers.get('license-verdict')]).toEqual([503, 'retry']);
  expect((await service.call('/readyz')).status).toBe(503);
  breakableRelay.restore();
  await waitUntil(async () => (await service.activate(key, 'm')).status === 200);
});

it('brings the schema up to date after that had failed at its start, and what is there can be read', async () => {
  const { key } = await world.issue();
  // Takes back the newest migration.
  for (const statement of [
    `alter table licenses.operator_tokens drop constraint operator_tokens_scopes_check,
       add constraint operator_tokens_scopes_check
         check (scopes <@ array['read', 'issue', 'change', 'webhooks', 'publish'] and cardinality(scopes) > 0) not valid`,
    `update licenses.applied_migrations set name = 'of another' where name = '0012_validate'`,
  ])
    await world.rows(statement);
  const service = await world.start();
  await waitUntil(async () => (await service.call('/readyz')).status === 503);
  expect((await service.activate(key, 'm')).status).toBe(200);
  await world.rows(`delete from licenses.applied_migrations where name = 'of another'`);
  await service.refreshKeys();
  await waitUntil(async () => (await service.call('/readyz')).status === 200);
  expect(
    await world.rows(`select convalidated from pg_constraint where conname = 'operator_tokens_scopes_check'`),
  ).toEqual([{ convalidated: true }]);
});
