/** Tests every row of the table of license states over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  renewLicense,
  resumeLicense,
  revokeLicense,
  replaceKey,
  suspendLicense,
} from '../src/operators/change.ts';
import { releaseMachines } from '../src/operators/machines.ts';
import { generateKey } from '../src/key/key.ts';
import { type HttpAnswer, type LicenseWorld, openLicenseWorld, type RunningService } from './world.ts';

let world: LicenseWorld;
let service: RunningService;

beforeAll(async () => {
  world = await openLicenseWorld();
  service = await world.start();
});
afterAll(() => world.close());

const never = '9999-12-31T23:59:59.000Z';
const dayMillis = 86_400_000;
const machine = 'machine-of-ana-0001';
const otherMachineId = 'machine-of-ben-0002';

const eventsOf = (id: string) =>
  world
    .rows<{ kind: string }>('select kind from licenses.license_events where license_id = $1 order by id', id)
    .then((rows) => rows.map(({ kind }) => kind));

const denialsOf = (id: string) =>
  world.rows<{ outcome: string; count: number }>(
    'select outcome, count from licenses.license_denials where license_id = $1 order by outcome',
    id,
  );

const reasonOf = ({ json }: HttpAnswer): unknown =>
  (json['details'] as { reason?: string } | undefined)?.reason;

const shortAnswerOf = (answer: HttpAnswer): unknown[] => [
  answer.status,
  answer.json['code'],
  reasonOf(answer),
  answer.headers.get('license-state'),
];

const timeMillisOf = (time: string | undefined): number => new Date(time ?? '').getTime();

describe('a free license', () => {
  it('is checked as not activated, with the end that an activation now would give', async () => {
    const { key } = await world.issue();
    const before = Date.now();
    const answer = await service.check(key, machine);
    expect([answer.status, answer.headers.get('license-state')]).toEqual([200, 'unactivated']);
    expect(answer.json).toEqual({ valid: false, plan: 'pro', expiresAt: expect.any(String), active: false });
    const expiresAt = timeMillisOf(answer.json['expiresAt'] as string);
    expect(expiresAt).toBeGreaterThanOrEqual(before + dayMillis - 1_000);
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + dayMillis + 1_000);
  });

  it('is bound by activation, and the same machine gets the same answer again', async () => {
    const { key, id } = await world.issue();
    const first = await service.activate(key.toLowerCase().replaceAll('-', ' '), machine);
    expect([first.status, first.headers.get('license-state')]).toEqual([200, 'active']);
    expect(first.json).toEqual({
      success: true,
      license: { key, plan: 'pro', expiresAt: expect.any(String), machineId: machine, activated: true },
    });
    const again = await service.activate(key, machine);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers.get('license-state')).toBe('active');
    expect(await eventsOf(id)).toEqual(['issued', 'activated']);

    const { expiresAt } = first.json['license'] as { expiresAt: string };
    const check = await service.check(key, machine);
    expect(check.json).toEqual({ valid: true, plan: 'pro', expiresAt, active: true });
    expect(check.headers.get('license-state')).toBe('active');
  });

  it('ends never when it is perpetual, and on its day when it has one', async () => {
    const perpetual = await world.issue({ term: { kind: 'perpetual' } });
    const dated = await world.issue({ term: { kind: 'until', expiresAt: '2199-01-02T03:04:05.678Z' } });
    for (const [{ key }, expiresAt] of [
      [perpetual, never],
      [dated, '2199-01-02T03:04:05.678Z'],
    ] as const) {
      expect((await service.check(key, machine)).json['expiresAt']).toBe(expiresAt);
      expect((await service.activate(key, machine)).json['license']).toMatchObject({ expiresAt });
      expect((await service.check(key, machine)).json).toMatchObject({ valid: true, expiresAt });
    }
  });
});

describe('a license on another machine', () => {
  it('is refused, with nothing about that machine, and counted', async () => {
    const { key, id } = await world.issue();
    await service.activate(key, machine);
    const answers = [
      await service.activate(key, otherMachineId),
      await service.activate(key, otherMachineId),
    ];
    for (const answer of answers) {
      expect(shortAnswerOf(answer)).toEqual([409, 'conflict', 'active_on_another_machine', 'other_machine']);
      expect(Object.keys(answer.json).sort()).toEqual(['code', 'details', 'message', 'requestId', 'status']);
      expect(answer.json['details']).toEqual({ reason: 'active_on_another_machine', retryable: false });
      expect(answer.text).not.toContain('0001');
    }
    const check = await service.check(key, otherMachineId);
    expect([check.status, check.headers.get('license-state')]).toEqual([200, 'other_machine']);
    expect(check.json).toMatchObject({ valid: false, active: false });
    expect(await denialsOf(id)).toEqual([{ outcome: 'other_machine', count: 2 }]);
    expect(await eventsOf(id)).toEqual(['issued', 'activated']);
  });
});

describe.each([
  ['expired', 'license_expired'],
  ['suspended', 'license_suspended'],
  ['revoked', 'license_revoked'],
] as const)('a license that is %s', (word, reason) => {
  const become = async (id: string): Promise<void> => {
    if (word === 'expired') {
      await world.rows(
        `update licenses.licenses set expires_at = clock_timestamp() - interval '1 second' where id = $1`,
        id,
      );
    } else
      await world.asOperator((ask) =>
        (word === 'suspended' ? suspendLicense : revokeLicense)(ask, { id }, 'unpaid'),
      );
  };

  it('is refused to everybody; its machine is still told that it is the one', async () => {
    const { key, id } = await world.issue();
    await service.activate(key, machine);
    await become(id);
    expect(shortAnswerOf(await service.activate(key, machine))).toEqual([403, 'forbidden', reason, word]);
    expect(shortAnswerOf(await service.activate(key, otherMachineId))).toEqual([
      403,
      'forbidden',
      reason,
      word,
    ]);
    const [mine, theirs] = [await service.check(key, machine), await service.check(key, otherMachineId)];
    expect([mine.status, mine.headers.get('license-state'), mine.json]).toEqual([
      ...[200, word],
      expect.objectContaining({ valid: false, active: true }),
    ]);
    expect([theirs.status, theirs.headers.get('license-state'), theirs.json]).toEqual([
      ...[200, word],
      expect.objectContaining({ valid: false, active: false }),
    ]);
    expect(await denialsOf(id)).toEqual([{ outcome: word, count: 2 }]);
    expect(shortAnswerOf(await service.release(key, machine))).toEqual([403, 'forbidden', reason, word]);
  });

  it('is not bound when it was free', async () => {
    const { key, id } = await world.issue({ term: { kind: 'until', expiresAt: '2199-01-01T00:00:00.000Z' } });
    await become(id);
    expect(shortAnswerOf(await service.activate(key, machine))).toEqual([403, 'forbidden', reason, word]);
    expect((await service.check(key, machine)).json).toMatchObject({ valid: false, active: false });
    const [row] = await world.rows(
      `select activated_at, (select count(*)::int from licenses.license_machines where license_id = id) as machines
       from licenses.licenses where id = $1`,
      id,
    );
    expect(row).toEqual({ activated_at: null, machines: 0 });
  });
});

it('puts revoked before suspended before expired', async () => {
  const { key, id } = await world.issue();
  await service.activate(key, machine);
  await world.rows(`update licenses.licenses set expires_at = now() - interval '1 day' where id = $1`, id);
  expect(reasonOf(await service.activate(key, machine))).toBe('license_expired');
  await world.asOperator((ask) => suspendLicense(ask, { id }, null));
  expect(reasonOf(await service.activate(key, machine))).toBe('license_suspended');
  await world.asOperator((ask) => revokeLicense(ask, { id }, null));
  expect(reasonOf(await service.activate(key, machine))).toBe('license_revoked');
});

it('lets a suspended license go on when it is resumed, and an expired one when it is renewed', async () => {
  const { key, id } = await world.issue();
  await service.activate(key, machine);
  await world.asOperator((ask) => suspendLicense(ask, { id }, null));
  await world.asOperator((ask) => resumeLicense(ask, { id }));
  expect((await service.activate(key, machine)).status).toBe(200);
  await world.rows(`update licenses.licenses set expires_at = now() - interval '1 day' where id = $1`, id);
  const asked = Date.now();
  await world.asOperator((ask) => renewLicense(ask, { id }, { kind: 'for', seconds: 3_600 }));
  const { expiresAt } = (await service.activate(key, machine)).json['license'] as { expiresAt: string };
  expect(timeMillisOf(expiresAt) - 3_600_000).toBeGreaterThanOrEqual(asked - 1_000);
  expect(timeMillisOf(expiresAt) - 3_600_000).toBeLessThanOrEqual(Date.now() + 1_000);
});

describe('a key', () => {
  it('that nobody sold is not found, for activation, check and release', async () => {
    const key = generateKey();
    for (const answer of [
      await service.activate(key, machine),
      await service.check(key, machine),
      await service.release(key, machine),
    ]) {
      expect(shortAnswerOf(answer)).toEqual([404, 'not_found', 'unknown_license_key', null]);
    }
  });

  it('of bad format is 400 for activation, with the place of a single typo, and not found for check', async () => {
    const { key } = await world.issue();
    const typo = key.slice(0, 6) + (key[6] === 'Z' ? 'Y' : 'Z') + key.slice(7);
    const located = await service.activate(typo, machine);
    expect(shortAnswerOf(located)).toEqual([400, 'bad_request', 'invalid_license_key', null]);
    expect(located.json['details']).toMatchObject({ position: 6, perhaps: key[6], retryable: false });
    expect(located.json['message']).toContain('character 6 looks wrong');
    // In the message, the position counts the characters of the typed text.
    const withoutPrefix = await service.activate(typo.slice('MSTR1-'.length), machine);
    expect(withoutPrefix.json['details']).toMatchObject({ position: 6 });
    expect(withoutPrefix.json['message']).toContain('character 1 looks wrong');
    for (const text of ['nonsense', 'MSTR1-AAAAA-BBBBB-CCCCC-DDDDD-EEEEE', '😀', 'x'.repeat(5_000)]) {
      const answer = await service.activate(text, machine);
      expect([answer.status, reasonOf(answer)]).toEqual([400, 'invalid_license_key']);
    }
    expect(shortAnswerOf(await service.check(typo, machine))).toEqual([
      404,
      'not_found',
      'unknown_license_key',
      null,
    ]);
    expect((await service.check('nonsense', machine)).status).toBe(404);
  });

  it('that was rotated is unknown, and the new one has the same machine', async () => {
    const { key, id } = await world.issue();
    await service.activate(key, machine);
    const { key: fresh } = await world.asOperator((ask) => replaceKey(ask, { id }));
    expect((await service.activate(key, machine)).status).toBe(404);
    expect((await service.check(fresh, machine)).json).toMatchObject({ valid: true });
  });
});

describe('parameters', () => {
  const long = 'é'.repeat(129);
  const bodies: [string, unknown][] = [
    ['no key', { machineId: machine }],
    ['no machine', { licenseKey: generateKey() }],
    ['nothing', {}],
    ['an empty key', { licenseKey: '', machineId: machine }],
    ['an empty machine', { licenseKey: generateKey(), machineId: '' }],
    ['a blank machine', { licenseKey: generateKey(), machineId: '  ' }],
    ['a key that is a number', { licenseKey: 5, machineId: machine }],
    ['a machine that is a list', { licenseKey: generateKey(), machineId: [machine] }],
    ['a machine of 258 bytes', { licenseKey: generateKey(), machineId: long }],
    ['a machine with a control character', { licenseKey: generateKey(), machineId: 'a\u0007b' }],
    ['a machine with a C1 control character', { licenseKey: generateKey(), machineId: 'a\u0085b' }],
    ['a null', { licenseKey: null, machineId: machine }],
    ['a field too many', { licenseKey: generateKey(), machineId: machine, machineID: machine }],
    ['a list', [1]],
    ['a text', 'text'],
    ['null', null],
  ];
  it.each(bodies)('of activation: %s is 400', async (_what, body) => {
    for (const path of ['/api/activate', '/api/activate/release']) {
      const answer = await service.post(path, body);
      expect([answer.status, answer.json['code'], reasonOf(answer)]).toEqual([
        400,
        'bad_request',
        'invalid_params',
      ]);
      expect(answer.json['details']).toMatchObject({ issues: expect.any(Array), retryable: false });
    }
  });

  it('of activation: no body, no JSON and another type are 400', async () => {
    const json = { 'content-type': 'application/json' };
    const bodies: [RequestInit, number][] = [
      [{ method: 'POST' }, 400],
      [{ method: 'POST', headers: json, body: '' }, 400],
      [{ method: 'POST', headers: json, body: '{"licenseKey":' }, 400],
      [{ method: 'POST', headers: json, body: '{"licenseKey":"\\u0000","machineId":"a"}' }, 400],
      [{ method: 'POST', body: 'no JSON' }, 400],
      [{ method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' }, 400],
      [{ method: 'POST', headers: json, body: JSON.stringify({ licenseKey: 'a'.repeat(300_000) }) }, 413],
    ];
    for (const [init, status] of bodies)
      expect((await service.call('/api/activate', init)).status).toBe(status);
  });

  it.each([
    ['', 400],
    ['licenseKey=&machineId=a', 400],
    ['licenseKey=a', 400],
    ['machineId=a', 400],
    ['licenseKey=a&machineId=', 400],
    ['licenseKey=a&machineId=%00', 400],
    ['licenseKey=a&machineId=b&machineId=c', 400],
    [`licenseKey=a&machineId=${encodeURIComponent(long)}`, 400],
    ['licenseKey=a&machineId=b&x=1', 400],
    ['licenseKey=a&machineId=b', 404],
    ['licenseKey=%ff%fe&machineId=b', 400],
    ['licenseKey=a&machineId=%ff', 400],
    ['licenseKey=a&machineId=%ed%a0%80', 400],
    ['licenseKey=a&machineId=%25ff%', 404],
    ['licenseKey=a&machineId=%C3%A9', 404],
  ])('of check: ?%s is %i', async (query, status) => {
    expect((await service.call(`/api/activate/check?${query}`)).status).toBe(status);
  });

  it('take a machine of 256 bytes, and tell machines apart that differ by anything', async () => {
    const { key } = await world.issue();
    const longest = 'é'.repeat(128);
    expect((await service.activate(key, longest)).status).toBe(200);
    expect((await service.activate(key, `${longest.slice(1)}e`)).status).toBe(409);
    expect((await service.check(key, longest)).json).toMatchObject({ valid: true });
  });
});

describe('a release by the machine', () => {
  it('frees the license for another, may be repeated, and says how long the old one may go on', async () => {
    const { key, id } = await world.issue({ transferLimit: 2 });
    await service.activate(key, machine);
    const [before] = await world.rows<{ offline_until: string }>(
      'select offline_until from licenses.licenses where id = $1',
      id,
    );
    for (const answer of [await service.release(key, machine), await service.release(key, machine)]) {
      expect([answer.status, answer.headers.get('license-state')]).toEqual([200, 'unactivated']);
      expect(answer.json).toEqual({
        success: true,
        license: { key, plan: 'pro', expiresAt: expect.any(String), machineId: machine, activated: false },
      });
      expect(answer.headers.get('license-transfers-left')).toBe('1');
      expect(answer.headers.get('license-offline-until')).toBe(before?.offline_until);
    }
    expect((await service.check(key, machine)).headers.get('license-state')).toBe('unactivated');
    expect((await service.activate(key, otherMachineId)).status).toBe(200);
    expect(shortAnswerOf(await service.activate(key, machine)).slice(0, 3)).toEqual([
      ...[409, 'conflict'],
      'active_on_another_machine',
    ]);
    expect(shortAnswerOf(await service.release(key, machine)).slice(0, 3)).toEqual([
      ...[409, 'conflict'],
      'active_on_another_machine',
    ]);
    expect(await eventsOf(id)).toEqual(['issued', 'activated', 'released', 'activated']);
    const [row] = await world.rows('select epoch, transfers from licenses.licenses where id = $1', id);
    expect(row).toEqual({ epoch: 1, transfers: 1 });
  });

  it('is refused when the plan allows no more, or nobody has it', async () => {
    const { key, id } = await world.issue({ transferLimit: 1 });
    expect(shortAnswerOf(await service.release(key, machine)).slice(0, 3)).toEqual([
      409,
      'conflict',
      'not_activated',
    ]);
    await service.activate(key, machine);
    await service.release(key, machine);
    await service.activate(key, machine);
    expect(shortAnswerOf(await service.release(key, machine)).slice(0, 3)).toEqual([
      ...[403, 'forbidden'],
      'transfers_exhausted',
    ]);
    expect((await service.check(key, machine)).json).toMatchObject({ valid: true });
    // An operator may release the machine nevertheless.
    await world.asOperator((ask) => releaseMachines(ask, { id }));
    expect((await service.activate(key, otherMachineId)).status).toBe(200);
  });

  it('keeps the end that the first activation gave', async () => {
    const { key } = await world.issue();
    const first = await service.activate(key, machine);
    await service.release(key, machine);
    const second = await service.activate(key, otherMachineId);
    const ends = [first, second].map(({ json }) => (json['license'] as { expiresAt: string }).expiresAt);
    expect(ends[1]).toBe(ends[0]);
  });
});

describe('every answer', () => {
  it('says whether it is the last word, and that nobody may keep it', async () => {
    const { key } = await world.issue();
    const answers: [HttpAnswer, string][] = [
      [await service.activate(key, machine), 'final'],
      [await service.check(key, machine), 'final'],
      [await service.activate(key, otherMachineId), 'final'],
      [await service.activate('nonsense', machine), 'final'],
      [await service.check(generateKey(), machine), 'final'],
      [await service.post('/api/activate', {}), 'final'],
      [
        await service.call('/api/activate', {
          method: 'POST',
          headers: { 'content-type': 'text/plain' },
          body: 'a',
        }),
        'final',
      ],
      // The 404 of an unknown path says nothing about a license, so the client must retry.
      [await service.call('/api/nothing'), 'retry'],
      [await service.call('/api/activate'), 'retry'],
    ];
    for (const [answer, verdict] of answers) {
      expect([answer.status, answer.headers.get('license-verdict')]).toEqual([answer.status, verdict]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('content-type')).toContain('application/json');
      expect(answer.headers.get('x-request-id')).toBeTruthy();
    }
  });

  it('is JSON for a path that does not exist, and empty for HEAD', async () => {
    const lost = await service.call('/api/nothing?licenseKey=abc');
    expect([lost.status, lost.json['code'], reasonOf(lost)]).toEqual([404, 'not_found', 'no_such_path']);
    const { key } = await world.issue();
    const head = await service.call(`/api/activate/check?licenseKey=${key}&machineId=a`, { method: 'HEAD' });
    expect([head.status, head.text, head.headers.get('license-state')]).toEqual([200, '', 'unactivated']);
  });
});
