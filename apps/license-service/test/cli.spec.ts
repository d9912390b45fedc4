/** Tests the operators' command line with real arguments and a real database, once as a separate process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { programEnvironment } from '@muster/testing';
import { runCommandLine } from '../src/command-line.ts';
import { type LicenseWorld, openLicenseWorld, type RunningService } from './world.ts';

let world: LicenseWorld;
let service: RunningService;
let folder: string;
beforeAll(async () => {
  world = await openLicenseWorld();
  service = await world.start();
  folder = await mkdtemp(path.join(tmpdir(), 'muster-license-cli-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function license(
  args: readonly string[],
  input = '',
  environment: Record<string, string> = {},
): Promise<CommandResult> {
  const said = { out: '', err: '' };
  const code = await runCommandLine(args, {
    environment: { DATABASE_URL: world.url, ...environment },
    readLines: async () => input.split('\n').filter((line) => line.trim() !== ''),
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

interface IssueOutput {
  readonly licenses: readonly { readonly id: string; readonly hint: string; readonly key?: string }[];
  readonly isRepeated: boolean;
  readonly isNewPlan: boolean;
}

async function issued(...args: string[]): Promise<{ id: string; key: string }> {
  const { licenses } = await json<IssueOutput>(['issue', '--plan', 'pro', '--for', '365d', ...args]);
  const [one] = licenses;
  if (one?.key === undefined) throw new Error('nothing was issued');
  return { id: one.id, key: one.key };
}

describe('issue', () => {
  it('makes keys that work, and shows them once', async () => {
    const ran = await license(['issue', '--plan', 'pro', '--for', '365d', '--count', '2']);
    const keys = ran.out.match(/^MSTR1-.+$/gm) ?? [];
    expect(keys).toHaveLength(2);
    expect((await service.activate(keys[0] ?? '', 'm')).status).toBe(200);
    const list = await license(['list', '--plan', 'pro']);
    for (const key of keys) expect(list.out).not.toContain(key);
    expect(list.out).toContain(`…${keys[0]?.slice(-4)}`);
  });

  it('issues an order once, also when it is asked for at the same time', async () => {
    const args = ['issue', '--plan', 'pro', '--for', '30d', '--order', 'A-1', '--count', '3'];
    const [one, other] = await Promise.all([json<IssueOutput>(args), json<IssueOutput>(args)]);
    expect([one.isRepeated, other.isRepeated].sort()).toEqual([false, true]);
    expect(one.licenses.map(({ id }) => id)).toEqual(other.licenses.map(({ id }) => id));
    const repeated = one.isRepeated ? one : other;
    expect(repeated.licenses.every((each) => each.key === undefined)).toBe(true);
    const otherwise = await license([...args.slice(0, -1), '4']);
    expect([otherwise.code, otherwise.err]).toEqual([
      1,
      expect.stringContaining('issued with other content'),
    ]);
  });

  it('writes the keys into a new file that only its owner reads, and never over another', async () => {
    const file = path.join(folder, 'keys.txt');
    const args = ['issue', '--plan', 'pro', '--perpetual', '--count', '5', '--out', file];
    const ran = await license(args);
    const keys = (await readFile(file, 'utf8')).trim().split('\n');
    expect(keys).toHaveLength(5);
    for (const key of keys) expect(ran.out).not.toContain(key);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await license(args)).code).toBe(1);
    expect((await readFile(file, 'utf8')).trim().split('\n')).toEqual(keys);
    expect((await service.check(keys[4] ?? '', 'm')).json).toMatchObject({ plan: 'pro' });
  });

  it('copies the terms of the plan: another plan later changes nothing sold', async () => {
    await json(['plan', 'set', 'team', '--for', '30d', '--transfers', '1']);
    const { licenses } = await json<IssueOutput>(['issue', '--plan', 'team']);
    await json(['plan', 'set', 'team', '--for', '1d', '--transfers', '9']);
    const { license: shown } = await json<{ license: object }>(['show', '--id', licenses[0]?.id ?? '']);
    expect(shown).toMatchObject({ durationSeconds: 30 * 86_400, transferLimit: 1 });
  });

  it.each([
    [['issue', '--plan', 'nowhere'], 'there is no plan nowhere'],
    [['issue', '--plan', 'pro', '--for', '1d', '--perpetual'], 'give one of'],
    [['issue', '--plan', 'pro', '--expires', '2001-01-01'], 'already have expired'],
    [['issue', '--plan', 'pro', '--expires', '2027-02-30'], 'must be a date'],
    [['issue', '--plan', 'pro', '--for', 'soon'], 'must be a duration'],
    [['issue', '--plan', 'pro', '--for', '1d', '--count', '0'], '1 to 10000'],
    [['issue', '--plan', 'pro', '--for', '1d', '--customer', 'ana@example.com'], 'not an e-mail address'],
    [['issue'], '--plan'],
  ])('refuses %j', async (args, words) => {
    const ran = await license(args);
    expect([ran.code, ran.out]).toEqual([1, '']);
    expect(ran.err).toContain(words);
  });
});

describe('a key', () => {
  it('is read from standard input, and taken from nowhere else', async () => {
    const { key, id } = await issued();
    const shown = await license(['show'], `  ${key.toLowerCase()}\n`);
    expect(shown.out).toContain(id);
    for (const args of [
      ['show', key],
      ['show', '--id', key],
      ['show', '--key', key],
    ]) {
      const ran = await license(args);
      expect(ran.code).toBe(1);
      expect(ran.out + ran.err).not.toContain(key);
    }
    expect((await license(['show'])).err).toContain('no key was given on standard input');
  });

  it('is looked at by verify, which says where a typo is and not what was typed', async () => {
    const { key } = await issued();
    expect((await license(['verify'], key)).out).toContain('A genuine key');
    const typo = `${key.slice(0, -1)}${key.endsWith('Z') ? 'Y' : 'Z'}`;
    const ran = await license(['verify'], typo);
    expect([ran.code, ran.out]).toEqual([1, expect.stringContaining('character 30 looks wrong')]);
    expect(ran.out).not.toContain(typo);
    expect((await license(['verify'], 'nonsense')).code).toBe(1);
  });
});

describe('a license', () => {
  it('is suspended, resumed, renewed, released, transferred, rotated and revoked, and audit tells it', async () => {
    const { key, id } = await issued();
    await service.activate(key, 'machine-one');
    const stateOf = async (): Promise<string | null> =>
      (await service.check(key, 'machine-one')).headers.get('license-state');
    await json(['suspend', '--reason', 'unpaid'], key);
    expect(await stateOf()).toBe('suspended');
    await json(['resume'], key);
    expect(await stateOf()).toBe('active');
    const before = (await service.check(key, 'machine-one')).json['expiresAt'] as string;
    await json(['renew', '--for', '10d'], key);
    const after = (await service.check(key, 'machine-one')).json['expiresAt'] as string;
    expect(Date.parse(after) - Date.parse(before)).toBe(10 * 86_400_000);
    const released = await license(['release'], key);
    expect(released.out).toContain('The old machine can run offline with its certificate until');
    expect(await stateOf()).toBe('unactivated');
    await service.activate(key, 'machine-one');
    await json(['transfer', '--machine', 'machine-two'], key);
    expect(await stateOf()).toBe('other_machine');
    expect((await service.activate(key, 'machine-two')).status).toBe(200);
    const { key: fresh } = await json<{ key: string }>(['rotate'], key);
    expect((await service.activate(key, 'machine-two')).status).toBe(404);
    expect((await service.activate(fresh, 'machine-two')).status).toBe(200);
    await json(['revoke', '--id', id, '--reason', 'refund']);
    expect((await service.activate(fresh, 'machine-two')).status).toBe(403);
    expect((await license(['resume', '--id', id])).err).toContain('revoked for good');

    const { events, denials } = await json<{ events: { kind: string }[]; denials: object[] }>([
      'audit',
      '--id',
      id,
    ]);
    expect(events.map(({ kind }) => kind).reverse()).toEqual([
      ...['issued', 'activated', 'suspended', 'resumed', 'renewed', 'released', 'activated', 'transferred'],
      ...['rotated', 'revoked'],
    ]);
    expect(denials).toEqual([expect.objectContaining({ outcome: 'revoked', count: 1 })]);
    expect((await license(['audit', '--id', id])).out).toContain('transferred');
  });

  it('is transferred within its plan, and beyond it by force', async () => {
    const { key } = await issued('--transfers', '0');
    await service.activate(key, 'one');
    expect((await license(['transfer', '--machine', 'two'], key)).err).toContain('the maximum of its plan');
    await json(['transfer', '--machine', 'two', '--force'], key);
    expect((await service.check(key, 'two')).json).toMatchObject({ valid: true });
  });

  it('is transferred to the machine that has it for nothing, and nothing changes', async () => {
    const { key, id } = await issued('--transfers', '0');
    await service.activate(key, 'one');
    const before = await world.rows('select * from licenses.licenses where id = $1', id);
    await json(['transfer', '--machine', 'one'], key);
    expect(await world.rows('select * from licenses.licenses where id = $1', id)).toEqual(before);
    const { events } = await json<{ events: { kind: string }[] }>(['audit', '--id', id]);
    expect(events.map(({ kind }) => kind)).toEqual(['activated', 'issued']);
  });

  it('gets a certificate by hand, which verify knows', async () => {
    const { key, id } = await issued();
    await service.activate(key, 'machine');
    const { certificate } = await json<{ certificate: string }>(
      ['cert', '--machine', 'machine', '--for', '30d'],
      key,
    );
    const verified = await json<{ payload: { lic: string; exp: number; iat: number } }>(
      ['verify'],
      certificate,
    );
    expect(verified.payload.lic).toBe(id);
    expect(verified.payload.exp - verified.payload.iat).toBe(30 * 86_400);
    const [head, body = '', signature] = certificate.split('.');
    const forged = await license(['verify'], `${head}.${body.slice(0, -2)}AA.${signature}`);
    expect([forged.code, forged.out]).toEqual([
      1,
      expect.stringContaining('not signed with a key of this installation'),
    ]);
    expect((await license(['cert', '--machine', 'other'], key)).err).toContain('does not hold the license');
  });
});

describe('an installation', () => {
  it('is counted by stats and paged by list', async () => {
    await issued('--customer', 'c-7');
    await issued('--customer', 'c-7');
    const page = await json<{ items: { id: string }[]; nextAfter: string }>([
      'list',
      '--customer',
      'c-7',
      '--limit',
      '1',
    ]);
    const rest = await json<{ items: { id: string }[] }>([
      'list',
      '--customer',
      'c-7',
      '--after',
      page.nextAfter,
    ]);
    expect(new Set([...page.items, ...rest.items].map(({ id }) => id)).size).toBe(2);
    const { plans } = await json<{ plans: { plan: string; issued: number }[] }>(['stats']);
    expect(plans.find(({ plan }) => plan === 'pro')?.issued).toBeGreaterThan(2);
    expect((await license(['stats'])).out).toMatch(/^PRODUCT +PLAN [^]*\ndefault +pro /);
  });

  it('is looked at by doctor, which finds what is wrong', async () => {
    const well = await license(['doctor']);
    expect([well.code, well.out]).toEqual([0, expect.stringContaining('ok    signing')]);
    await world.rows('grant delete on licenses.license_events to muster_licenses');
    const ill = await license(['doctor']);
    await world.rows('revoke delete on licenses.license_events from muster_licenses');
    expect([ill.code, ill.out]).toEqual([1, expect.stringContaining('WRONG role')]);
    await world.rows(
      `insert into licenses.webhook_endpoints (id, product, url, sealed_secret)
       values (gen_random_uuid(), 'default', 'https://shop.example.com', sha256('sealed by another'))`,
    );
    const deaf = await license(['doctor']);
    await world.rows('delete from licenses.webhook_endpoints');
    expect([deaf.code, deaf.out]).toEqual([1, expect.stringContaining('WRONG webhooks: 1 receive nothing')]);
    const { key } = await issued();
    await service.activate(key, 'machine');
    const environment = {
      LICENSE_PEPPER: 'a pepper of today',
      LICENSE_PEPPER_BEFORE: 'a pepper of yesterday',
    };
    const lost = await license(['doctor'], '', environment);
    expect([lost.code, lost.out]).toEqual([
      1,
      expect.stringContaining('use a pepper that is not configured'),
    ]);
  });

  it('changes its signing key with notice, and keeps one', async () => {
    const list = () => json<{ items: { kid: string; state: string }[] }>(['signing-key', 'list']);
    const [first] = (await list()).items;
    expect((await license(['signing-key', 'retire', first?.kid ?? ''])).err).toContain(
      'no other signing key',
    );
    await json(['signing-key', 'new']);
    expect((await list()).items.map(({ state }) => state)).toEqual(['next', 'current']);
    await json(['signing-key', 'new', '--in', '0d']);
    await json(['signing-key', 'retire', first?.kid ?? '']);
    expect((await list()).items.map(({ state }) => state)).toEqual(['next', 'current', 'retired']);
  });

  it('retires a signing key whose id begins with a dash', async () => {
    await json(['signing-key', 'new', '--in', '0d']);
    const { items } = await json<{ items: { kid: string; state: string }[] }>(['signing-key', 'list']);
    const kid = items.find(({ state }) => state === 'next')?.kid ?? items[0]?.kid ?? '';
    const dashed = `-${kid.slice(1)}`;
    await world.rows('update licenses.signing_keys set kid = $2 where kid = $1', kid, dashed);
    expect(await json(['signing-key', 'retire', dashed])).toEqual({ retired: dashed });
    expect((await license(['signing-key', 'retire', dashed, '--leakd'])).code).not.toBe(0);
  });

  it('knows what a key signed that was retired', async () => {
    const { key } = await issued('--for', '365d');
    await service.activate(key, 'machine');
    const made = await json<{ certificate: string }>(['cert', '--machine', 'machine', '--for', '360d'], key);
    const { items } = await json<{ items: { kid: string; state: string }[] }>(['signing-key', 'list']);
    await json(['signing-key', 'new', '--in', '0d']);
    await json(['signing-key', 'retire', items.find(({ state }) => state === 'current')?.kid ?? '']);
    await world.rows(
      `update licenses.signing_keys set published_until = published_until - interval '359 days' where retired_at is not null`,
    );
    expect((await license(['verify'], made.certificate)).code).toBe(0);
  });

  it('says what it needs', async () => {
    expect((await license(['list'], '', { DATABASE_URL: '' })).err).toContain('DATABASE_URL is not set');
    expect((await license(['list'], '', { DATABASE_URL: 'postgres://127.0.0.1:1/x' })).err).toContain(
      'no PostgreSQL',
    );
    const refusal = await license(['show', '--id', 'x', '--json']);
    expect([refusal.code, JSON.parse(refusal.out)]).toEqual([
      1,
      { error: { reason: 'license_id', message: expect.any(String) } },
    ]);
    expect(await json(['migrate'])).toEqual({ applied: [] });
  });
});

it('is a process that reads its standard input and ends with the code', async () => {
  const { key } = await issued();
  const start = async (input: string): Promise<CommandResult> => {
    const child = spawn(process.execPath, [path.resolve(import.meta.dirname, '../src/cli.ts'), 'verify'], {
      env: { ...programEnvironment(), DATABASE_URL: world.url },
    });
    child.stdin.end(input);
    const [exit, out, err] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
    const [code] = exit as [number | null];
    return { code: Number(code), out, err };
  };
  const [good, bad] = await Promise.all([start(`${key}\n`), start('nonsense')]);
  expect(good).toEqual({ code: 0, err: '', out: expect.stringContaining('A genuine key') });
  expect(bad.code).toBe(1);
});

it('makes products, and tokens that are shown once and taken back', async () => {
  expect(await license(['product', 'add', 'zeta', '--prefix', 'zeta9'])).toMatchObject({ code: 0 });
  expect((await license(['product', 'list'])).out).toMatch(/zeta +ZETA9-…/);
  const { out } = await license(['issue', '--product', 'zeta', '--plan', 'pro', '--perpetual']);
  expect(out).toMatch(/^ZETA9-/m);
  for (const wrong of [
    ['product', 'add', 'zeta', '--prefix', 'OTHER'],
    ['product', 'add', 'other', '--prefix', 'ZETA9'],
    ['product', 'add', 'other', '--prefix', 'ILOU1'],
    ['issue', '--product', 'unheard', '--plan', 'pro', '--perpetual'],
    ['token', 'new', '--name', 'x', '--scope', 'everything'],
  ])
    expect([wrong, (await license(wrong)).code]).toEqual([wrong, 1]);
  const made = await json<{ secret: string; token: { id: string } }>([
    ...['token', 'new', '--name', 'shop', '--scope', 'issue,read', '--product', 'zeta', '--for', '30d'],
  ]);
  expect(made.secret).toMatch(/^mlt_/);
  const listed = await license(['token', 'list']);
  expect(listed.out).toMatch(/shop +zeta +read,issue +valid until/);
  expect(listed.out).not.toContain(made.secret);
  await license(['token', 'revoke', made.token.id]);
  expect((await license(['token', 'list'])).out).toMatch(/shop .* revoked/);
});
