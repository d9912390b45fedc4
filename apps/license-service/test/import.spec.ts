/** Tests the import of licenses from files. Each row has an outcome, and importing a file again changes nothing. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { runCommandLine } from '../src/command-line.ts';
import { generateKey } from '../src/key/key.ts';
import { createProgressBar } from '../src/progress.ts';
import { type LicenseWorld, openLicenseWorld, type RunningService } from './world.ts';

let world: LicenseWorld;
let service: RunningService;
let folder: string;
let count = 0;
beforeAll(async () => {
  world = await openLicenseWorld();
  service = await world.start();
  folder = await mkdtemp(path.join(tmpdir(), 'muster-license-import-'));
  await run(['plan', 'set', 'pro', '--for', '365d', '--transfers', '2']);
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  count += 1;
});

const inFolder = (name: string): string => path.join(folder, `${count}-${name}`);

async function run(
  args: readonly string[],
  progressBarText = '',
): Promise<{ code: number; said: string; bar: string }> {
  const all = { said: '', bar: progressBarText };
  const code = await runCommandLine(args, {
    environment: { DATABASE_URL: world.url },
    readLines: async () => [],
    writeStdout: (words) => void (all.said += words),
    writeStderr: (words) => void (all.said += words),
    progress: createProgressBar({
      isTTY: true,
      write: (words: string | Uint8Array) => (all.bar += String(words)) !== '',
    }),
  });
  return { code, ...all };
}

interface Report {
  readonly isDryRun: boolean;
  readonly rows: readonly {
    line: number;
    orderRef: string;
    outcome: string;
    id?: string;
    problem?: string;
  }[];
}

async function imported(name: string, content: string, ...args: string[]): Promise<Report['rows']> {
  await writeFile(inFolder(name), content);
  const { said } = await run(['import', inFolder(name), '--json', ...args]);
  return (JSON.parse(said) as Report).rows;
}

const licenses = async (): Promise<number> =>
  (await world.rows<{ count: number }>('select count(*)::int as count from licenses.licenses'))[0]?.count ??
  0;

describe('a key that a customer has', () => {
  it('works as it did, however it is written in the file', async () => {
    const [one, other] = [generateKey(), generateKey()];
    const rows = await imported(
      'keys.csv',
      `Order Ref,Key,Plan,Customer-Ref\nA-1,${one},pro,c-1\nA-2,${other.toLowerCase().replaceAll('-', ' ')},pro,\n`,
    );
    expect(rows).toMatchObject([
      { line: 2, orderRef: 'A-1', outcome: 'imported' },
      { line: 3, orderRef: 'A-2', outcome: 'imported' },
    ]);
    for (const key of [one, other]) expect((await service.activate(key, 'm')).status).toBe(200);
    const events = await world.rows(
      'select from licenses.license_events where license_id = $1 and kind = $2',
      rows[0]?.id,
      'imported',
    );
    expect(events).toHaveLength(1);
  });

  it('that has expired is known, and its machine is told so', async () => {
    const key = generateKey();
    await imported('old.csv', `order_ref,key,plan,expires\nB-1,${key},pro,2020-01-01\n`);
    expect((await service.activate(key, 'm')).json).toMatchObject({ details: { reason: 'license_expired' } });
  });

  it.each([
    ['of another format', () => 'ABCD-1234', 'another format'],
    [
      'with a typo',
      () => generateKey().replace(/.$/, (last) => (last === 'Z' ? 'Y' : 'Z')),
      'character 30 of the key looks wrong',
    ],
  ])('%s is refused in its row, and others are not', async (_what, make, why) => {
    const [wrong, right] = [make(), generateKey()];
    const order = `C-${count}`;
    await writeFile(
      inFolder('some.csv'),
      `order_ref,key,plan\n${order}-1,${wrong},pro\n${order}-2,${right},pro\n`,
    );
    const { code, said } = await run(['import', inFolder('some.csv')]);
    expect([code, said]).toEqual([1, expect.stringContaining(why)]);
    expect(said).toContain('1 imported with their keys');
    expect(said).not.toContain(wrong);
    expect(said).not.toContain(right);
    expect((await service.activate(right, 'm')).status).toBe(200);
  });
});

describe('a row without a key', () => {
  it('gets a new one, in a file that only its owner reads', async () => {
    const out = inFolder('out.csv');
    const content =
      '{"orderRef": "D-1", "plan": "pro", "transfers": 7}\n\n{"order_ref": "D, 2", "plan": "pro", "for": "30d"}\n';
    const rows = await imported('new.jsonl', content, '--out', out);
    expect(rows.map(({ line, outcome }) => [line, outcome])).toEqual([
      [1, 'issued'],
      [3, 'issued'],
    ]);
    expect((await stat(out)).mode & 0o777).toBe(0o600);
    const [head, first = '', second = ''] = (await readFile(out, 'utf8')).split('\n');
    expect([head, first, second]).toEqual([
      'order_ref,key',
      expect.stringMatching(/^D-1,MSTR1-/),
      expect.stringMatching(/^"D, 2",MSTR1-/),
    ]);
    expect((await service.activate(first.slice(4), 'm')).status).toBe(200);
    const [license] = await world.rows(
      'select transfer_limit, plan from licenses.licenses where id = $1',
      rows[0]?.id,
    );
    expect(license).toMatchObject({ transfer_limit: 7, plan: 'pro' });
  });

  it('is not imported where its key would be lost', async () => {
    const before = await licenses();
    await writeFile(inFolder('new.csv'), 'order_ref,plan\nE-1,pro\n');
    expect(await run(['import', inFolder('new.csv')])).toMatchObject({
      code: 1,
      said: expect.stringContaining('--out'),
    });
    expect(await licenses()).toBe(before);
  });
});

it('tries ten thousand rows, imports them, and finds them there already', async () => {
  const rows = Array.from(
    { length: 10_000 },
    (_, index) => `F-${index},${index % 2 === 0 ? generateKey() : ''},pro`,
  );
  const file = inFolder('many.csv');
  await writeFile(file, ['order_ref,key,plan', ...rows].join('\r\n'));
  const before = await licenses();
  const tried = await run(['import', file, '--dry-run']);
  expect(tried).toMatchObject({
    code: 0,
    said: expect.stringContaining('5000 imported with their keys, 5000 issued'),
  });
  expect(tried.said).toContain('nothing was changed');
  expect(await licenses()).toBe(before);
  const done = await run(['import', file, '--out', inFolder('many-keys.csv')]);
  expect(done.said).toContain(
    '5000 imported with their keys, 5000 issued with new keys, 0 unchanged, 0 refused',
  );
  expect(done.bar).toContain('5000 of 10000');
  expect(await licenses()).toBe(before + 10_000);
  const again = await run(['import', file, '--out', inFolder('many-keys-2.csv')]);
  expect(again).toMatchObject({ code: 0, said: expect.stringContaining('10000 unchanged, 0 refused') });
  expect(await licenses()).toBe(before + 10_000);
}, 120_000);

it('takes several rows of one order for its licenses, and refuses what is there as something else', async () => {
  const [one, two, three] = [generateKey(), generateKey(), generateKey()];
  const file = (keys: readonly string[], plan = 'pro'): string =>
    ['order_ref,key,plan', ...keys.map((key) => `G-1,${key},${plan}`)].join('\n');
  expect((await imported('a.csv', file([one, two]))).map(({ outcome }) => outcome)).toEqual([
    'imported',
    'imported',
  ]);
  expect(await imported('b.csv', file([one, three]))).toMatchObject([
    { outcome: 'unchanged' },
    { outcome: 'refused', problem: expect.stringContaining('other content') },
  ]);
  expect(await imported('c.csv', `order_ref,key,plan\nG-2,${one},pro\n`)).toMatchObject([
    { outcome: 'refused', problem: expect.stringContaining('another order') },
  ]);
  expect(await imported('d.csv', `order_ref,key,plan\nG-3,${three},pro\nG-4,${three},pro\n`)).toMatchObject([
    { outcome: 'imported' },
    { outcome: 'refused', problem: expect.stringContaining('an earlier row has the same key') },
  ]);
});

it('counts the licenses of an order also by rows that do not fit: mended, the file changes what was refused alone', async () => {
  const [one, two, three] = [generateKey(), generateKey(), generateKey()];
  const file = (...rows: readonly (readonly [string, string])[]): string =>
    ['order_ref,key,plan,transfers', ...rows.map(([key, transfers]) => `J-1,${key},pro,${transfers}`)].join(
      '\n',
    );
  const outcomes = async (name: string, content: string): Promise<string[]> =>
    (await imported(name, content)).map(({ outcome }) => outcome);
  expect(await outcomes('a.csv', file([one, 'many'], [two, ''], [two, ''], [three, '']))).toEqual([
    ...['refused', 'imported', 'refused', 'imported'],
  ]);
  const mended = file([one, '1'], [two, ''], [generateKey(), ''], [three, '']);
  expect(await outcomes('b.csv', mended)).toEqual(['imported', 'unchanged', 'imported', 'unchanged']);
  expect(await outcomes('c.csv', mended)).toEqual(Array(4).fill('unchanged'));
});

it.each([
  ['order_ref,plan\n,pro\n', 'order_ref is missing'],
  ['order_ref\nH-1\n', 'plan is missing'],
  ['order_ref,plan\nH-1,nowhere\n', 'there is no plan nowhere'],
  ['order_ref,plan,for,expires\nH-1,pro,3d,2030-01-01\n', 'more than one of'],
  ['order_ref,plan,for\nH-1,pro,soon\n', 'must be a duration'],
  ['order_ref,plan,expires\nH-1,pro,2020-01-01\n', 'already have expired'],
  ['order_ref,plan,customer_ref\nH-1,pro,ana@example.com\n', 'not an e-mail address'],
  ['order_ref,plan,transfers\nH-1,pro,many\n', 'whole number'],
])('says of %j why it does not fit', async (content, why) => {
  expect(await imported('unfit.csv', content, '--dry-run')).toMatchObject([
    { outcome: 'refused', problem: expect.stringContaining(why) },
  ]);
});

it.each([
  ['a.csv', '', 'no rows'],
  ['a.csv', 'order_ref,colour\nI-1,red\n', '\\"colour\\" is not a field'],
  ['a.csv', 'order_ref,plan\n"I-1,pro\n', 'not valid CSV'],
  ['a.csv', 'order_ref,plan\nI-1,pro,more\n', 'not valid CSV'],
  ['a.csv', 'order_ref,orderRef\nI-1,I-2\n', 'appears twice'],
  ['a.jsonl', '{"orderRef": "I-1"}\nnonsense\n', 'line 2 is not valid JSON'],
  ['a.jsonl', '[]\n', 'line 1 is not a JSON object'],
  ['a.jsonl', '{"orderRef": {}}\n', 'must be a text or a number'],
])('refuses %s with %j as a whole', async (name, content, why) => {
  await writeFile(inFolder(name), content);
  const { code, said } = await run(['import', inFolder(name), '--dry-run', '--json']);
  expect([code, said]).toEqual([1, expect.stringContaining(why)]);
});
