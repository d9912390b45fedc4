/** Tests usage meters: the path for machines, limits, idempotence, races, operators and the customer's page. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommandLine } from '../src/command-line.ts';
import { type LicenseMeters } from '../src/meters.ts';
import { deleteOldUsageEvents, setMeters } from '../src/operators/usage.ts';
import { setPlan } from '../src/operators/plans.ts';
import { makeToken } from '../src/operators/tokens.ts';
import { createCustomerLink } from '../src/pages/links.ts';
import {
  type HttpAnswer,
  type LicenseWorld,
  noLimits,
  openLicenseWorld,
  type RunningService,
  waitUntil,
} from './world.ts';

const hour = 3_600_000;
const machine = 'machine-with-meters-0001';
const planMeters: LicenseMeters = {
  exports: { limit: 5, period: 'month', overLimit: 'refuse' },
  renders: { limit: 2, period: 'total', overLimit: 'count' },
  calls: { limit: null, period: 'month', overLimit: 'refuse' },
};

let world: LicenseWorld;
let service: RunningService;
let authorization: string;
beforeAll(async () => {
  world = await openLicenseWorld();
  await world.asOperator((db) =>
    setPlan(db, { name: 'metered', term: { kind: 'perpetual' }, transferLimit: 1, meters: planMeters }),
  );
  const { secret } = await world.asOperator((db) =>
    makeToken(db, { name: 'bill', scopes: ['read', 'change'] }),
  );
  authorization = `Bearer ${secret}`;
  service = await world.start({ environment: { ...noLimits, LIMIT_OPERATORS: '100000/1' } });
});
afterAll(() => world.close());

async function sellLicense(): Promise<{ id: string; key: string }> {
  const license = await world.issue({ plan: 'metered', term: { kind: 'perpetual' } });
  expect((await service.activate(license.key, machine)).status).toBe(200);
  return license;
}

type Event = { id: string; meter: string; quantity?: number; at?: string };
let eventCount = 0;
const event = (meter: string, more: Partial<Event> = {}): Event => ({
  id: `e-${(eventCount += 1)}`,
  meter,
  ...more,
});
const reportUsage = (
  licenseKey: string,
  events: readonly unknown[],
  machineId = machine,
): Promise<HttpAnswer> => service.post('/api/usage', { licenseKey, machineId, events });
const outcomesIn = ({ json }: HttpAnswer) =>
  (
    (json['events'] ?? (json['details'] as Record<string, unknown>)['events']) as {
      outcome: string;
      reason: string | null;
    }[]
  ).map(({ outcome, reason }) => reason ?? outcome);
const usedQuantityIn = ({ json }: HttpAnswer, meter: string, period?: string) =>
  (json['meters'] as { meter: string; period: string; used: number }[])
    .filter((row) => row.meter === meter && (period === undefined || row.period === period))
    .map(({ used }) => used);
const reasonOf = ({ status, json }: HttpAnswer) => [
  status,
  (json['details'] as { reason?: string } | undefined)?.reason,
];
const monthOf = (millis: number): string => new Date(millis).toISOString().slice(0, 7);

describe('a machine that holds the license', () => {
  it('counts events up to the limit of the month; above it they are refused, and a smaller one still fits', async () => {
    const { key } = await sellLicense();
    const first = await reportUsage(key, [event('exports', { quantity: 3 })]);
    expect([first.status, usedQuantityIn(first, 'exports')]).toEqual([200, [3]]);
    expect(first.headers.get('signature')).not.toBeNull();
    const mixed = await reportUsage(key, [
      event('exports', { quantity: 3 }),
      event('exports', { quantity: 2 }),
    ]);
    expect([mixed.status, outcomesIn(mixed), usedQuantityIn(mixed, 'exports')]).toEqual([
      200,
      ['meter_exceeded', 'counted'],
      [5],
    ]);
    const over = await reportUsage(key, [event('exports')]);
    expect(reasonOf(over)).toEqual([422, 'meter_exceeded']);
    expect(over.headers.get('license-verdict')).toBe('final');
    expect(over.headers.get('signature')).not.toBeNull();
    expect(outcomesIn(over)).toEqual(['meter_exceeded']);
  });

  it('counts an event once, however often and however many at once report it', async () => {
    const { key } = await sellLicense();
    const one = event('calls', { quantity: 7 });
    const answers = await Promise.all(Array.from({ length: 12 }, () => reportUsage(key, [one, one])));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(answers.flatMap(outcomesIn).filter((word) => word === 'counted')).toHaveLength(1);
    expect(usedQuantityIn(await reportUsage(key, []), 'calls')).toEqual([7]);
  });

  it('gets no more than the limit in a race of reports that have all begun', async () => {
    const { id, key } = await sellLicense();
    await reportUsage(key, [event('exports')]);
    const holder = await world.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select from licenses.license_usage where license_id = $1 for update', [id]);
      const racing = Promise.all(Array.from({ length: 8 }, () => reportUsage(key, [event('exports')])));
      const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      await waitUntil(async () => (await world.rows(waits)).length === 8);
      await holder.query('rollback');
      const statuses = (await racing).map(({ status }) => status).sort();
      expect(statuses).toEqual([200, 200, 200, 200, 422, 422, 422, 422]);
    } finally {
      holder.release(true);
    }
    expect(usedQuantityIn(await reportUsage(key, []), 'exports')).toEqual([5]);
  });

  it('may send a refused event again after the limit was raised', async () => {
    const { id, key } = await sellLicense();
    const large = event('exports', { quantity: 6 });
    expect(reasonOf(await reportUsage(key, [large]))).toEqual([422, 'meter_exceeded']);
    await world.asOperator((db) =>
      setMeters(db, { id }, () => ({ exports: { limit: 6, period: 'month', overLimit: 'refuse' } })),
    );
    expect(outcomesIn(await reportUsage(key, [large]))).toEqual(['counted']);
  });

  it('counts usage above the limit where the meter says so', async () => {
    const { key } = await sellLicense();
    const answer = await reportUsage(key, [event('renders', { quantity: 9 })]);
    expect([answer.status, usedQuantityIn(answer, 'renders', 'total')]).toEqual([200, [9]]);
  });

  it('counts late events into the period of their time, and refuses events that are too old or in the future', async () => {
    const { id, key } = await sellLicense();
    await world.rows(
      `update licenses.licenses set activated_at = now() - interval '40 days' where id = $1`,
      id,
    );
    const now = Date.now();
    const late = now - 33 * 24 * hour;
    const answer = await reportUsage(key, [
      event('exports', { quantity: 4, at: new Date(late).toISOString() }),
      event('exports', { quantity: 5 }),
      event('exports', { at: new Date(now - 36 * 24 * hour).toISOString() }),
      event('exports', { at: new Date(now + 30 * hour).toISOString() }),
      event('exports', { at: '0000-01-01T00:00:00+23:59' }),
      event('exports', { at: '9999-12-31T23:59:59-23:59' }),
    ]);
    expect(outcomesIn(answer)).toEqual([
      'counted',
      'counted',
      'too_old',
      'in_future',
      'too_old',
      'in_future',
    ]);
    expect(usedQuantityIn(answer, 'exports', monthOf(late))).toEqual([4]);
    expect(usedQuantityIn(answer, 'exports', monthOf(now))).toEqual([5]);
  });

  it('has no usage before its activation: such events count into the month of the activation', async () => {
    const { key } = await sellLicense();
    const at = new Date(Date.now() - 33 * 24 * hour).toISOString();
    const answer = await reportUsage(key, [
      event('exports', { quantity: 4, at }),
      event('exports', { quantity: 2 }),
    ]);
    expect(outcomesIn(answer)).toEqual(['counted', 'meter_exceeded']);
    expect(usedQuantityIn(answer, 'exports')).toEqual([4]);
  });

  it('is refused an unknown meter alone, and more events than one day may have', async () => {
    const { id, key } = await sellLicense();
    expect(reasonOf(await reportUsage(key, [event('unheard')]))).toEqual([422, 'events_refused']);
    expect(outcomesIn(await reportUsage(key, [event('unheard'), event('calls')]))).toEqual([
      'unknown_meter',
      'counted',
    ]);
    await world.rows(`update licenses.license_usage set events_of_day = 9999 where license_id = $1`, id);
    const last = await reportUsage(key, [event('calls'), event('calls')]);
    expect(outcomesIn(last)).toEqual(['counted', 'too_many_events']);
    await world.rows(
      `update licenses.license_usage set events_day = events_day - 1 where license_id = $1`,
      id,
    );
    expect(outcomesIn(await reportUsage(key, [event('calls')]))).toEqual(['counted']);
  });
});

describe('a report is refused', () => {
  it.each([
    [{}],
    [{ events: {} }],
    [{ events: [{}] }],
    [{ events: [{ id: '', meter: 'calls' }] }],
    [{ events: [{ id: 'a b', meter: 'calls' }] }],
    [{ events: [{ id: 'x'.repeat(65), meter: 'calls' }] }],
    [{ events: [{ id: 'a', meter: 'Calls' }] }],
    [{ events: [{ id: 'a', meter: 'calls', quantity: 0 }] }],
    [{ events: [{ id: 'a', meter: 'calls', quantity: 1.5 }] }],
    [{ events: [{ id: 'a', meter: 'calls', quantity: 1_000_001 }] }],
    [{ events: [{ id: 'a', meter: 'calls', at: 'yesterday' }] }],
    [{ events: [{ id: 'a', meter: 'calls', more: 1 }] }],
    [{ events: Array.from({ length: 101 }, (_, nth) => ({ id: `n-${nth}`, meter: 'calls' })) }],
    [{ events: [], more: true }],
  ])('with 400 where it does not fit: %j', async (body) => {
    const { key } = await sellLicense();
    expect((await service.post('/api/usage', { licenseKey: key, machineId: machine, ...body })).status).toBe(
      400,
    );
  });

  it('to machines without the license, and after its end, as activations are', async () => {
    const { id, key } = await world.issue({ plan: 'metered', term: { kind: 'perpetual' } });
    expect(reasonOf(await reportUsage(key, [event('calls')]))).toEqual([409, 'not_activated']);
    await service.activate(key, machine);
    expect(reasonOf(await reportUsage(key, [event('calls')], 'another-machine-0001'))).toEqual([
      409,
      'active_on_another_machine',
    ]);
    expect(reasonOf(await reportUsage('MSTR1-00000-00000-00000-00000-00000', []))[0]).toBe(400);
    await world.rows(`update licenses.licenses set status = 'revoked' where id = $1`, id);
    expect(reasonOf(await reportUsage(key, [event('calls')]))).toEqual([403, 'license_revoked']);
    expect(await world.rows('select from licenses.license_usage where license_id = $1', id)).toEqual([]);
  });

  it('after too many calls of an address', async () => {
    const { key } = await sellLicense();
    const narrow = await world.start({ environment: { ...noLimits, LIMIT_USAGE: '2/3600' } });
    const body = { licenseKey: key, machineId: machine, events: [] };
    for (const status of [200, 200, 429]) expect((await narrow.post('/api/usage', body)).status).toBe(status);
    // Checks of the same address are not refused because of its reports.
    expect((await narrow.check(key, machine)).status).toBe(200);
  });
});

describe('operators', () => {
  const operate = async (path: string, params: object) => {
    const { status, json } = await service.post(`/api/operators/licenses/${path}`, params, { authorization });
    return { status, json };
  };
  async function run(args: readonly string[], input: readonly string[] = []) {
    const said = { out: '', err: '' };
    const code = await runCommandLine(args, {
      environment: { DATABASE_URL: world.url },
      readLines: async () => input,
      writeStdout: (words) => void (said.out += words),
      writeStderr: (words) => void (said.err += words),
    });
    return { code, ...said };
  }

  it('set meters of plans and licenses, read the usage, and reset it with an entry in the history', async () => {
    expect(
      (
        await run([
          'plan',
          'set',
          'cli',
          '--perpetual',
          '--meter',
          'exports=2/month',
          '--meter',
          'renders=1/total,count',
        ])
      ).out,
    ).toContain('meters exports 2 per month; renders 1 in total, more is counted');
    const { id, key } = await world.issue({ plan: 'cli', term: { kind: 'perpetual' } });
    await service.activate(key, machine);
    await reportUsage(key, [event('exports', { quantity: 2 }), event('renders', { quantity: 3 })]);
    expect((await run(['usage', 'limit', '--meter', 'exports=9/month'], [key])).out).toContain(
      'exports 9 per month',
    );
    const shown = await run(['usage', 'show', '--json'], [key]);
    const month = monthOf(Date.now());
    expect(JSON.parse(shown.out)).toMatchObject({
      items: [
        { meter: 'exports', period: month, used: 2, limit: 9 },
        { meter: 'renders', period: 'total', used: 3, limit: 1 },
      ],
    });
    expect(await operate('usage', { id, month })).toMatchObject({
      json: { items: [{ meter: 'exports', period: month, used: 2, limit: 9 }] },
    });
    expect((await run(['usage', 'reset', 'exports', '--id', id])).code).toBe(0);
    expect(await operate('resetUsage', { id, meter: 'renders' })).toMatchObject({
      json: { before: { used: 3 } },
    });
    expect(await operate('resetUsage', { id, meter: 'unheard' })).toMatchObject({ status: 400 });
    expect(await operate('usage', { id })).toMatchObject({ json: { items: [{ used: 0 }, { used: 0 }] } });
    const { json } = await operate('history', { id });
    const resets = (json['events'] as { kind: string; data: object }[]).filter(
      ({ kind }) => kind === 'usage_reset',
    );
    expect(resets).toHaveLength(2);
    expect(await operate('setMeters', { id, meters: {} })).toMatchObject({
      json: { license: { meters: { exports: { limit: 2 }, renders: { limit: 1 } } } },
    });
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, nth) => [`m${nth}`, planMeters['calls']]));
    expect(await operate('setMeters', { id, meters: many })).toMatchObject({ status: 400 });
  });

  it.each([['exports=2'], ['Exports=2/month'], ['exports=2/day'], ['exports=x/month']])(
    'cannot set %s',
    async (text) => {
      expect((await run(['plan', 'set', 'cli', '--meter', text])).code).toBe(1);
    },
  );

  it('lose usage of old months by purge, and the service the ids of events after 37 days', async () => {
    const { id, key } = await sellLicense();
    await reportUsage(key, [event('exports'), event('renders')]);
    await world.rows(
      `insert into licenses.license_usage (license_id, meter, period, used, events_day, updated_at)
       values ($1, 'exports', '2020-01', 3, now()::date, now())`,
      id,
    );
    expect((await run(['purge'])).code).toBe(0);
    const left = await world.rows<{ period: string }>(
      'select period from licenses.license_usage where license_id = $1 order by 1',
      id,
    );
    expect(left.map(({ period }) => period)).toEqual([monthOf(Date.now()), 'total']);
    await world.rows(
      `update licenses.license_usage_events set recorded_at = now() - interval '38 days'
       where (license_id, event_id) in (select license_id, event_id from licenses.license_usage_events where license_id = $1 limit 1)`,
      id,
    );
    expect(await world.asOperator(deleteOldUsageEvents)).toBe(false);
    expect(
      await world.rows('select from licenses.license_usage_events where license_id = $1', id),
    ).toHaveLength(1);
  });
});

it('the customer sees the usage of each meter', async () => {
  const { id, key } = await sellLicense();
  await reportUsage(key, [event('exports', { quantity: 5 }), event('renders', { quantity: 1_234 })]);
  const link = await world.asOperator((db) => createCustomerLink(db, [world.seal], id, 3_600));
  const { text } = await service.call(link);
  const words = text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  expect(words).toContain(
    'Usage calls 0 this month exports 5 of 5 this month, limit reached renders 1,234 of 2 in total, over the limit',
  );
});
