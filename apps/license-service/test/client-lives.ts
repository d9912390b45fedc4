/** Runs the life cycle of a license with a small program in any language against the real service. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { answerAirGapRequest } from '../src/air-gap/answer.ts';
import { parseAirGapRequest } from '../src/air-gap/request.ts';
import { loadSecrets } from '../src/database.ts';
import { revokeLicense } from '../src/operators/change.ts';
import { releaseMachines } from '../src/operators/machines.ts';
import { setTrial } from '../src/operators/products.ts';
import { openVault } from '../src/vault.ts';
import { dropAnswer } from './middle.ts';
import { type Machines, openMachines } from './machines.ts';

export const clients = path.join(import.meta.dirname, '../../../clients');
export const vectors = path.join(clients, 'vectors');

/** Returns true if a program is installed and exits with 0 when called with these arguments. */
export const isInstalled = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args).status === 0;

export interface ProgramOutput {
  readonly code: number;
  readonly out: string;
}

export const run = (
  program: string,
  args: readonly string[],
  { env = {}, folder }: { env?: Record<string, string>; folder?: string } = {},
): Promise<ProgramOutput> =>
  new Promise((resolve) => {
    const options = { cwd: folder, env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env } };
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1);
      resolve({ code, out: `${stdout}${stderr}`.trim() });
    });
  });

/** Extracts the program of a language from the guide, by the name of its tab. */
export async function guideProgramOf(tab: string): Promise<string> {
  const guide = path.join(import.meta.dirname, '../../../docs/guides/license-your-app.md');
  const [, code] = (await readFile(guide, 'utf8')).split(`[${tab}]\n`);
  return (code ?? '').slice(0, code?.indexOf('```\n'));
}

/** Tests a program of the guide: it activates its license, starts without its key, and reports why it may not run. */
export async function expectGuideWorks(
  { machines, home }: ReturnType<typeof openHome>,
  [program, ...before]: readonly [string, ...string[]],
): Promise<void> {
  const { key } = await machines().world.issue();
  const env = {
    LICENSE_URL: machines().middle.url,
    XDG_STATE_HOME: await mkdtemp(path.join(home(), 'state-')),
  };
  const start = (...args: string[]): Promise<ProgramOutput> => run(program, [...before, ...args], { env });
  expect(await start()).toMatchObject({ code: 1, out: expect.stringContaining('No license was activated') });
  expect(await start(key)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Plan pro,? by the service/),
  });
  machines().middle.alterAnswer = dropAnswer;
  expect(await start()).toMatchObject({ code: 0, out: expect.stringContaining('by the certificate') });
  machines().middle.resetAlterations();
}

/** Opens the service and a folder for programs before the tests of the calling spec, and closes them afterwards. */
export function openHome(): { machines: () => Machines; home: () => string } {
  let machines: Machines;
  let home: string;
  beforeAll(async () => {
    machines = await openMachines();
    home = await mkdtemp(path.join(tmpdir(), 'muster-license-clients-'));
  });
  afterAll(async () => {
    await machines.close();
    await rm(home, { recursive: true });
  });
  return { machines: () => machines, home: () => home };
}

/**
 * The function that runs a command of the program in one language: `activate KEY`, `check`, `offline`,
 * `release`, `trial`, `request KEY` or `answer FILE`. Each program has its own folder.
 */
export type Speak = (
  folder: string,
  what: string,
  given?: string,
  env?: Record<string, string>,
) => Promise<ProgramOutput>;

let programs = 0;
let files = 0;
const noSecrets = { pepper: undefined, pepperBefore: undefined, seal: undefined };

/** Defines the tests of the life cycle of a license, which are the same for every language. */
export function lives({ machines: opened, home }: ReturnType<typeof openHome>, speak: Speak): void {
  let machines: Machines;
  beforeAll(() => {
    machines = opened();
  });
  const program = () => {
    programs += 1;
    const folder = path.join(home(), String(programs));
    return (what: string, given?: string, env?: Record<string, string>) => speak(folder, what, given, env);
  };

  it('a program runs by the service, and by its certificate where that is away', async () => {
    const { key } = await machines.world.issue();
    const say = program();
    expect((await say('check')).code).toBe(1);
    expect(await say('activate', key.toLowerCase())).toMatchObject({ code: 0 });
    expect(await say('check')).toMatchObject({ code: 0 });
    machines.middle.alterAnswer = dropAnswer;
    expect(await say('check')).toMatchObject({
      code: 0,
      out: expect.stringContaining('certificate'),
    });
    machines.middle.resetAlterations();
    expect(await say('offline')).toMatchObject({ code: 0 });
  });

  it('a revoked license is refused, and pulling the cable afterwards does not help', async () => {
    const { key, id } = await machines.world.issue();
    const say = program();
    await say('activate', key);
    await machines.world.asOperator((ask) => revokeLicense(ask, { id }, null));
    expect((await say('check')).code).toBe(1);
    machines.middle.alterAnswer = dropAnswer;
    expect((await say('check')).code).not.toBe(0);
    machines.middle.resetAlterations();
  });

  it('a refusal that is forged on the way is none', async () => {
    const { key } = await machines.world.issue();
    const say = program();
    await say('activate', key);
    machines.middle.alterAnswer = () => ({
      status: 403,
      headers: { 'license-verdict': 'final', 'content-type': 'application/json' },
      body: '{"code":"forbidden","message":"forged"}',
    });
    expect(await say('check')).toMatchObject({ code: 0 });
    machines.middle.resetAlterations();
  });

  it('a yes that is changed on the way is none, and an unknown key is refused with its message', async () => {
    const say = program();
    const { key } = await machines.world.issue();
    machines.middle.alterAnswer = (answer) => ({ ...answer, body: answer.body.replace('"pro"', '"max"') });
    expect((await say('activate', key)).code).not.toBe(0);
    machines.middle.resetAlterations();
    const typo = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    expect(await say('activate', typo)).toMatchObject({
      code: 1,
      out: expect.stringContaining('looks wrong'),
    });
  });

  it('a license is given back, and one that support released is not taken again by a check', async () => {
    const { key, id } = await machines.world.issue();
    const say = program();
    await say('activate', key);
    await say('release');
    const [row] = await machines.world.rows<{ held: number }>(
      'select count(*)::int as held from licenses.held_machines where license_id = $1',
      id,
    );
    expect(row?.held).toBe(0);
    await say('activate', key);
    await machines.world.asOperator((ask) => releaseMachines(ask, { id }));
    expect((await say('check')).code).toBe(1);
  });

  it('a program is tried without a key, once, and by its certificate where the service is away', async () => {
    const { world } = machines;
    const terms = { trialSeconds: 14 * 86_400, trialFeatures: { export: true } };
    await world.asOperator((ask) => setTrial(ask, 'default', terms));
    // Deletes all trials, because all programs of these tests run on one machine, and a machine has only one
    // trial.
    await world.rows('delete from licenses.trials');
    const say = program();
    expect(await say('trial')).toMatchObject({ code: 0 });
    expect(await say('check')).toMatchObject({ code: 0 });
    machines.middle.alterAnswer = dropAnswer;
    expect(await say('check')).toMatchObject({ code: 0, out: expect.stringContaining('certificate') });
    machines.middle.resetAlterations();
    const { key } = await world.issue();
    expect((await say('activate', key.slice(0, -2))).code).toBe(1);
    expect(await say('offline')).toMatchObject({ code: 0 });
    await world.rows(
      `update licenses.trials set started_at = started_at - interval '20 days', ends_at = ends_at - interval '20 days'`,
    );
    expect(await say('check')).toMatchObject({ code: 1, out: expect.stringContaining('trial') });
    machines.middle.alterAnswer = dropAnswer;
    expect((await say('check')).code).not.toBe(0);
    expect((await say('trial')).code).not.toBe(0);
    machines.middle.resetAlterations();
    expect(await say('activate', key)).toMatchObject({ code: 0 });
    expect(await say('release')).toBeDefined();
    expect(await say('trial')).toMatchObject({ code: 1 });
  });

  it('a machine that never comes online is activated by two files, and refused by two', async () => {
    const { world, middle, serviceUrl } = machines;
    const { key, id } = await world.issue();
    const pinned = path.join(home(), 'pinned.json');
    const keys = await fetch(`${serviceUrl}/.well-known/license-keys.json`);
    await writeFile(pinned, await keys.text());
    const speaking = program();
    const say = (what: string, given?: string) => speaking(what, given, { LICENSE_KEYS: pinned });
    middle.alterAnswer = dropAnswer;
    const answerTo = async (licenseKey: string): Promise<string> => {
      const { code, out } = await say('request', licenseKey);
      expect([code, out]).toEqual([0, expect.stringMatching(/^licreq1\.[\w-]+$/)]);
      files += 1;
      const file = path.join(home(), `answer-${files}`);
      const opened = await openVault(world.owner, await loadSecrets(world.owner, noSecrets));
      const { answer } = await world.asOperator((ask) =>
        answerAirGapRequest(ask, opened, parseAirGapRequest(out), { seconds: 30 * 86_400 }),
      );
      await writeFile(file, `${answer}\n`);
      return file;
    };
    const first = await answerTo(key);
    expect(await say('answer', first)).toMatchObject({ code: 0 });
    expect(await say('answer', first)).toMatchObject({ code: 0 });
    expect(await say('check')).toMatchObject({ code: 0, out: expect.stringContaining('certificate') });
    await world.asOperator((ask) => revokeLicense(ask, { id }, null));
    const refused = await answerTo(key);
    expect((await say('answer', first)).code).not.toBe(0);
    expect(await say('offline')).toMatchObject({ code: 0 });
    expect(await say('answer', refused)).toMatchObject({
      code: 1,
      out: expect.stringContaining('revoked'),
    });
    for (const file of [first, refused]) expect((await say('answer', file)).code).not.toBe(0);
    expect((await say('check')).code).not.toBe(0);
    middle.resetAlterations();
  });
}
