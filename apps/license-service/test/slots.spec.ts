/** Tests licenses for several machines: over HTTP, on the support pages, and after an import. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommandLine } from '../src/command-line.ts';
import { type HttpAnswer, type LicenseWorld, openLicenseWorld, type RunningService } from './world.ts';

let world: LicenseWorld;
let service: RunningService;
let folder: string;
beforeAll(async () => {
  world = await openLicenseWorld();
  service = await world.start();
  folder = await mkdtemp(path.join(tmpdir(), 'muster-license-slots-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

const [laptop, desktop, tablet, phone] = [
  'laptop-of-ana-0001',
  'desktop-of-ana-0002',
  'tablet-of-ana-0003',
  'phone-of-ana-0004',
] as const;

/** Returns the status, the license state and the used slots, such as `2/3`. */
const shortAnswerOf = ({ status, headers }: HttpAnswer): unknown[] => [
  status,
  headers.get('license-state'),
  headers.get('license-machines'),
];

async function license(
  args: readonly string[],
  input = '',
): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const code = await runCommandLine(args, {
    environment: { DATABASE_URL: world.url },
    readLines: async () => input.split('\n').filter((line) => line !== ''),
    writeStdout: (words) => void (said.out += words),
    writeStderr: (words) => void (said.err += words),
  });
  return { code, ...said };
}

async function json<Result>(args: readonly string[], input = ''): Promise<Result> {
  const { code, out, err } = await license([...args, '--json'], input);
  if (code !== 0) throw new Error(`license ${args.join(' ')} ended with ${code}: ${out}${err}`);
  return JSON.parse(out) as Result;
}

interface MachineList {
  readonly machineLimit: number;
  readonly machines: readonly { readonly slot: number; readonly hint: string }[];
}

describe('a license of two machines', () => {
  it('is held by both, and refused to a third, with nothing about them', async () => {
    const { key } = await world.issue({ machineLimit: 2 });
    expect(shortAnswerOf(await service.check(key, laptop))).toEqual([200, 'unactivated', '0/2']);
    expect(shortAnswerOf(await service.activate(key, laptop))).toEqual([200, 'active', '1/2']);
    expect(shortAnswerOf(await service.check(key, desktop))).toEqual([200, 'unactivated', '1/2']);
    expect(shortAnswerOf(await service.activate(key, desktop))).toEqual([200, 'active', '2/2']);
    expect(shortAnswerOf(await service.activate(key, laptop))).toEqual([200, 'active', '2/2']);
    const refused = await service.activate(key, tablet);
    expect(shortAnswerOf(refused)).toEqual([409, 'other_machine', '2/2']);
    expect(refused.json['details']).toEqual({ reason: 'active_on_another_machine', retryable: false });
    expect(refused.text).not.toMatch(/000[12]/);
    for (const machine of [laptop, desktop]) {
      const check = await service.check(key, machine);
      expect([...shortAnswerOf(check), check.json['active']]).toEqual([200, 'active', '2/2', true]);
    }
    expect((await service.check(key, tablet)).json).toMatchObject({ valid: false, active: false });
  });

  it('gives each machine a certificate of its own', async () => {
    const { key } = await world.issue({ machineLimit: 2 });
    const [one, other] = [await service.activate(key, laptop), await service.activate(key, desktop)];
    const machineIn = ({ headers }: HttpAnswer): unknown =>
      (
        JSON.parse(
          Buffer.from(headers.get('license-certificate')?.split('.')[1] ?? '', 'base64url').toString(),
        ) as { machine: unknown }
      ).machine;
    expect(machineIn(one)).not.toBe(machineIn(other));
  });

  it('gives up the slot of the machine that asks, and no other; the release may be repeated', async () => {
    const { key } = await world.issue({ machineLimit: 2, transferLimit: 5 });
    for (const machine of [laptop, desktop]) await service.activate(key, machine);
    expect(shortAnswerOf(await service.release(key, tablet))).toEqual([409, 'other_machine', '2/2']);
    const first = await service.release(key, laptop);
    expect(shortAnswerOf(first)).toEqual([200, 'unactivated', '1/2']);
    expect(shortAnswerOf(await service.check(key, desktop))).toEqual([200, 'active', '1/2']);
    await service.release(key, desktop);
    const again = await service.release(key, laptop);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers.get('license-offline-until')).toBe(first.headers.get('license-offline-until'));
    expect(again.headers.get('license-transfers-left')).toBe('3');
    for (const machine of [tablet, phone]) expect((await service.activate(key, machine)).status).toBe(200);
    expect(shortAnswerOf(await service.release(key, laptop))).toEqual([409, 'other_machine', '2/2']);
  });

  it('is given up as often as the plan allows, by all of its machines together', async () => {
    const { key } = await world.issue({ machineLimit: 2, transferLimit: 1 });
    for (const machine of [laptop, desktop]) await service.activate(key, machine);
    expect((await service.release(key, laptop)).status).toBe(200);
    const refused = await service.release(key, desktop);
    expect([refused.status, refused.json['details']]).toEqual([
      403,
      expect.objectContaining({ reason: 'transfers_exhausted' }),
    ]);
  });
});

it('decides at whole milliseconds, as times are kept, so that the next answer says the same end', async () => {
  const { id } = await world.issue();
  const [row] = await world.rows(
    `select bool_and(date_trunc('milliseconds', s.now) = s.now) as "isWhole"
     from generate_series(1, 5) n cross join lateral licenses.slots_of($1, n, '', null) s`,
    id,
  );
  expect(row).toEqual({ isWhole: true });
});

it('a license of one machine says nothing of slots', async () => {
  const { key } = await world.issue();
  for (const answer of [
    await service.activate(key, laptop),
    await service.check(key, laptop),
    await service.activate(key, desktop),
    await service.release(key, laptop),
  ]) {
    expect(answer.headers.get('license-machines')).toBeNull();
  }
});

describe('support', () => {
  const sold = async (...words: string[]): Promise<string> => {
    const { licenses } = await json<{ licenses: { key: string }[] }>([
      ...['issue', '--plan', 'family', '--perpetual', ...words],
    ]);
    return licenses[0]?.key ?? '';
  };

  it('sells as many as the plan says, or the issue does; a plan later changes nothing sold', async () => {
    await json(['plan', 'set', 'family', '--perpetual', '--machines', '3']);
    const [key, wide] = [await sold(), await sold('--machines', '5')];
    await json(['plan', 'set', 'family', '--machines', '9']);
    expect((await service.activate(key, laptop)).headers.get('license-machines')).toBe('1/3');
    expect((await service.activate(wide, laptop)).headers.get('license-machines')).toBe('1/5');
    const plans = await license(['plan', 'list']);
    expect(plans.out).toMatch(/family +perpetual +9 /);
    const stats = await json<{ plans: { plan: string; bound: number; machines: number }[] }>(['stats']);
    expect(stats.plans.find(({ plan }) => plan === 'family')).toMatchObject({ bound: 2, machines: 2 });
  });

  it('sees the machines, and takes one or all away', async () => {
    const key = await sold('--machines', '3');
    for (const machine of [laptop, desktop, tablet]) await service.activate(key, machine);
    const listed = await json<MachineList>(['machines'], key);
    expect(listed.machineLimit).toBe(3);
    expect(listed.machines.map(({ slot, hint }) => [slot, hint])).toEqual([
      [1, '…0001'],
      [2, '…0002'],
      [3, '…0003'],
    ]);
    expect((await license(['machines'], key)).out).toMatch(/3 of 3 machines/);
    expect((await license(['show'], key)).out).toMatch(/machines {3}3 of 3/);
    expect((await license(['list', '--plan', 'family'])).out).toContain('3/3');

    const unsaid = await license(['release'], key);
    expect([unsaid.code, unsaid.err]).toEqual([1, expect.stringContaining('choose one with --slot')]);
    expect((await license(['release', '--slot', '7'], key)).err).toContain('no machine holds slot 7');
    const ran = await license(['release', '--slot', '2'], key);
    expect(ran.out).toContain('run offline with its certificate until');
    expect((await service.check(key, desktop)).json).toMatchObject({ active: false });
    expect((await service.check(key, tablet)).json).toMatchObject({ active: true });
    await json(['release', '--all'], key);
    expect((await json<MachineList>(['machines'], key)).machines).toEqual([]);
    const { events } = await json<{ events: { kind: string; epoch: number }[] }>(['audit'], key);
    expect(events.filter(({ kind }) => kind === 'released').map(({ epoch }) => epoch)).toEqual([3, 2, 1]);
  });

  it('moves one of them to another machine, which must not have one', async () => {
    const key = await sold('--machines', '2');
    for (const machine of [laptop, desktop]) await service.activate(key, machine);
    expect((await license(['transfer', '--machine', tablet], key)).err).toContain('--slot');
    expect((await license(['transfer', '--machine', desktop], key)).code).toBe(0);
    await json(['transfer', '--machine', tablet, '--slot', '1'], key);
    expect((await service.check(key, tablet)).json).toMatchObject({ valid: true });
    expect(shortAnswerOf(await service.activate(key, laptop))).toEqual([409, 'other_machine', '2/2']);
    const { certificate } = await json<{ certificate: string }>(['cert', '--machine', tablet], key);
    expect((await license(['verify'], certificate)).code).toBe(0);
    expect((await license(['cert', '--machine', laptop], key)).err).toContain('does not hold the license');
  });

  it('allows more or fewer; those that hold it go on', async () => {
    const key = await sold('--machines', '2');
    for (const machine of [laptop, desktop]) await service.activate(key, machine);
    await json(['machines', '--allow', '1'], key);
    expect(shortAnswerOf(await service.activate(key, desktop))).toEqual([200, 'active', null]);
    await service.release(key, laptop);
    expect(shortAnswerOf(await service.activate(key, laptop))).toEqual([409, 'other_machine', null]);
    await json(['machines', '--allow', '2'], key);
    expect(shortAnswerOf(await service.activate(key, laptop))).toEqual([200, 'active', '2/2']);
    expect((await license(['audit'], key)).out).toContain('resized');
  });

  it.each(['0', '1001', 'many'])('cannot sell %s machines', async (machines) => {
    for (const args of [
      ['issue', '--plan', 'family', '--machines', machines],
      ['plan', 'set', 'family', '--machines', machines],
    ]) {
      const ran = await license(args);
      expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/1 to 1000|whole number/)]);
    }
  });

  it('takes over how many each row says', async () => {
    const file = path.join(folder, 'sold.csv');
    const rows = ['order_ref,plan,machines', 'R-1,family,4', 'R-2,family,', 'R-3,family,0', ''];
    await writeFile(file, rows.join('\n'));
    const out = path.join(folder, 'keys.csv');
    const ran = await license(['import', file, '--out', out, '--json']);
    const { rows: done } = JSON.parse(ran.out) as { rows: { orderRef: string; problem?: string }[] };
    expect(done.map(({ problem }) => problem)).toEqual([
      undefined,
      undefined,
      expect.stringContaining('1 to 1000'),
    ]);
    const { items } = await json<{ items: { orderRef: string; machineLimit: number }[] }>([
      ...['list', '--plan', 'family', '--limit', '2'],
    ]);
    expect(Object.fromEntries(items.map((one) => [one.orderRef, one.machineLimit]))).toEqual({
      'R-1': 4,
      'R-2': 9,
    });
  });
});
