/** Tests offline machines: people carry an activation request from the machine and the answer back to it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type PublicKey } from '@muster/license-client';
import { createVisitor } from '@muster/testing/visitor';
import { runCommandLine } from '../src/command-line.ts';
import { revokeLicense } from '../src/operators/change.ts';
import { makeProduct } from '../src/operators/products.ts';
import { makeToken, type NewOperatorToken } from '../src/operators/tokens.ts';
import { createCustomerLink } from '../src/pages/links.ts';
import { type InstalledClient, readStoredLicense, type Machines, openMachines } from './machines.ts';
import { dropAnswer } from './middle.ts';

let machines: Machines;
let folder: string;
let publicKeys: readonly PublicKey[];
beforeAll(async () => {
  machines = await openMachines();
  folder = await mkdtemp(path.join(tmpdir(), 'muster-air-gap-'));
  const answer = await fetch(`${machines.serviceUrl}/.well-known/license-keys.json`);
  ({ keys: publicKeys } = (await answer.json()) as { keys: PublicKey[] });
});
// In these tests no machine can reach the service.
beforeEach(() => {
  machines.middle.alterAnswer = dropAnswer;
});
afterAll(async () => {
  await machines.close();
  await rm(folder, { recursive: true });
});

const installOfflineClient = (): InstalledClient => machines.install({ publicKeys: [...publicKeys] });

let fileCount = 0;
const nextFilePath = (): string => path.join(folder, String((fileCount += 1)));

interface CommandResult {
  readonly code: number;
  readonly said: string;
}

/** Answers a request with the command line, like an operator. */
async function runAnswerCommand(
  request: string,
  ...args: string[]
): Promise<CommandResult & { readonly answer: string }> {
  const [asked, out] = [nextFilePath(), nextFilePath()];
  await writeFile(asked, `${request}\n`);
  let said = '';
  const code = await runCommandLine(['answer', asked, '--out', out, ...args], {
    environment: { DATABASE_URL: machines.world.url },
    readLines: async () => [],
    writeStdout: (words) => void (said += words),
    writeStderr: (words) => void (said += words),
  });
  return { code, said, answer: await readFile(out, 'utf8').catch(() => '') };
}

const listHeldMachines = (id: string) =>
  machines.world.rows('select from licenses.held_machines where license_id = $1', id);
const daysOf = (standing: object): number =>
  'offlineSeconds' in standing ? Math.round(Number(standing.offlineSeconds) / 86_400) : 0;

describe('a machine that never comes online', () => {
  it('is activated by two files, and runs by its certificate for as long as the answer says', async () => {
    const { key, id } = await machines.world.issue({ term: { kind: 'perpetual' } });
    const client = installOfflineClient();
    expect(await client.activate(key)).toMatchObject({ mayRun: false, reason: 'unreachable' });
    const { code, answer, said } = await runAnswerCommand(await client.requestOffline(key), '--for', '60d');
    expect([code, said]).toEqual([0, expect.stringContaining('is now active on the machine')]);
    const standing = await client.acceptOffline(answer);
    expect(standing).toMatchObject({ mayRun: true, by: 'certificate', plan: 'pro', isTrial: false });
    expect(daysOf(standing)).toBe(60);
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    expect(await listHeldMachines(id)).toHaveLength(1);
  });

  it('takes the same answer in again without harm, and wins no time by it', async () => {
    const { key, id } = await machines.world.issue();
    const client = installOfflineClient();
    const request = await client.requestOffline(key);
    const { answer } = await runAnswerCommand(request);
    await client.acceptOffline(answer);
    const before = await readStoredLicense(client);
    expect(await client.acceptOffline(answer)).toMatchObject({ mayRun: true });
    expect(await readStoredLicense(client)).toMatchObject({ certificate: before.certificate });
    // Stores that the client has already seen a later time, so that the current clock counts as turned back.
    const later = Date.now() + 3_600_000;
    const seen = { aheadMillis: 0, latestMillis: later };
    await writeFile(client.file, JSON.stringify({ ...before, time: seen }));
    expect(await client.acceptOffline(answer)).toMatchObject({ reason: 'clock_turned_back' });
    expect(await listHeldMachines(id)).toHaveLength(1);
    // An operator may answer the same request several times.
    expect((await runAnswerCommand(request)).code).toBe(0);
    expect(await listHeldMachines(id)).toHaveLength(1);
  });

  it('takes no answer to another machine, to an older request or by another service', async () => {
    const { key } = await machines.world.issue({ machineLimit: 3 });
    const [mine, other] = [installOfflineClient(), installOfflineClient()];
    const first = await runAnswerCommand(await mine.requestOffline(key));
    await other.requestOffline(key);
    expect(await other.acceptOffline(first.answer)).toMatchObject({ reason: 'answer_of_another_request' });
    await mine.requestOffline(key);
    expect(await mine.acceptOffline(first.answer)).toMatchObject({ reason: 'answer_of_another_request' });
    expect(await mine.checkOffline()).toMatchObject({ reason: 'no_license' });
    for (const text of ['', first.answer.slice(0, -9), `${first.answer.trim()}A`, 'license-answer.txt'])
      expect(await mine.acceptOffline(text)).toMatchObject({ mayRun: false, reason: 'untrusted' });
    expect(await machines.install().acceptOffline(first.answer)).toMatchObject({
      reason: 'answer_of_another_request',
    });
  });

  it('counts as a slot as online, and is refused in the same words', async () => {
    const { key, id } = await machines.world.issue();
    const [first, second] = [installOfflineClient(), installOfflineClient()];
    await first.acceptOffline((await runAnswerCommand(await first.requestOffline(key))).answer);
    const taken = await runAnswerCommand(await second.requestOffline(key));
    expect([taken.code, taken.said]).toEqual([1, expect.stringContaining('active on another machine')]);
    expect(await second.acceptOffline(taken.answer)).toMatchObject({
      ...{ mayRun: false, reason: 'active_on_another_machine', isFinal: true },
    });
    const denials = await machines.world.rows(
      `select from licenses.license_denials where license_id = $1 and outcome = 'other_machine'`,
      id,
    );
    expect(denials).toHaveLength(1);
    const typo = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    const wrong = await runAnswerCommand(await second.requestOffline(typo));
    expect(await second.acceptOffline(wrong.answer)).toMatchObject({
      ...{ reason: 'invalid_license_key', message: expect.stringContaining('looks wrong') },
    });
  });

  it('stops where the answer says that its license was revoked, and no older answer helps', async () => {
    const { key, id } = await machines.world.issue();
    const client = installOfflineClient();
    const good = await runAnswerCommand(await client.requestOffline(key));
    await client.acceptOffline(good.answer);
    await machines.world.asOperator((ask) => revokeLicense(ask, { id }, null));
    const bad = await runAnswerCommand(await client.requestOffline(key));
    expect(await client.acceptOffline(bad.answer)).toMatchObject({ reason: 'license_revoked' });
    expect((await client.checkOffline()).mayRun).toBe(false);
    for (const { answer } of [good, bad])
      expect(await client.acceptOffline(answer)).toMatchObject({ reason: 'answer_of_another_request' });
    expect((await client.checkOffline()).mayRun).toBe(false);
  });

  it('ends its trial with the key', async () => {
    const client = installOfflineClient();
    await machines.world.rows(`update licenses.products set trial_seconds = 86400`);
    machines.middle.resetAlterations();
    expect(await client.trial()).toMatchObject({ mayRun: true, isTrial: true });
    machines.middle.alterAnswer = dropAnswer;
    const { key } = await machines.world.issue();
    await client.acceptOffline((await runAnswerCommand(await client.requestOffline(key))).answer);
    expect(await client.checkOffline()).toMatchObject({ mayRun: true, isTrial: false });
    machines.middle.resetAlterations();
    expect(
      await machines.world.rows('select from licenses.trials where license_id is not null'),
    ).toHaveLength(1);
  });
});

describe('the command line', () => {
  it('says what is no request, and leaves no file behind', async () => {
    for (const text of ['', 'licreq1.', 'licreq1.e30', `licreq1.${'A'.repeat(5_000)}`, 'anything'])
      expect(await runAnswerCommand(text)).toMatchObject({
        ...{ code: 1, answer: '', said: expect.stringContaining('not a complete request of a machine') },
      });
    expect((await runAnswerCommand('x', '--for', '400d')).said).toContain('at most 366d');
  });
});

describe('by the operators’ API', () => {
  interface Answered {
    readonly answer: string;
    readonly licenseId: string | null;
    readonly offlineUntil: string | null;
    readonly refused: { readonly reason: string; readonly message: string } | null;
  }
  const tokenOf = async (more: Partial<NewOperatorToken> = {}): Promise<string> => {
    const usual = { name: 'desk', scopes: ['change'] } as const;
    return (await machines.world.asOperator((ask) => makeToken(ask, { ...usual, ...more }))).secret;
  };
  const call = async (body: object, secret: string): Promise<{ status: number; json: Answered }> => {
    const answer = await fetch(`${machines.serviceUrl}/api/operators/licenses/answer`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify(body),
    });
    return { status: answer.status, json: (await answer.json()) as Answered };
  };

  it('a program answers a request, once or again, and the history names its token', async () => {
    const { key, id } = await machines.world.issue({ term: { kind: 'perpetual' } });
    const client = installOfflineClient();
    const [request, desk] = [await client.requestOffline(key), await tokenOf()];
    const first = await call({ request }, desk);
    expect(first).toMatchObject({ status: 200, json: { licenseId: id, refused: null } });
    const standing = await client.acceptOffline(first.json.answer);
    expect([standing.mayRun, daysOf(standing)]).toEqual([true, 30]);
    const again = await call({ request: `${request}\n`, for: '60d' }, desk);
    const days = [first, again].map(({ json }) =>
      Math.round((Date.parse(json.offlineUntil ?? '') - Date.now()) / 86_400_000),
    );
    expect(days).toEqual([30, 60]);
    expect(await client.acceptOffline(again.json.answer)).toMatchObject({ mayRun: true });
    expect(await listHeldMachines(id)).toHaveLength(1);
    expect(
      await machines.world.rows(
        `select kind, actor, actor_ref from licenses.license_events where license_id = $1 and kind = 'activated'`,
        id,
      ),
    ).toEqual([{ kind: 'activated', actor: 'machine', actor_ref: 'token desk' }]);
  });

  it('a refusal is an answer that stops the machine, and is counted', async () => {
    const { key, id } = await machines.world.issue();
    const [first, second, desk] = [installOfflineClient(), installOfflineClient(), await tokenOf()];
    await call({ request: await first.requestOffline(key) }, desk);
    const { status, json } = await call({ request: await second.requestOffline(key) }, desk);
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({ licenseId: null, offlineUntil: null, refused: expect.anything() }),
    ]);
    expect(json.refused).toMatchObject({ reason: 'active_on_another_machine' });
    expect(await second.acceptOffline(json.answer)).toMatchObject({
      ...{ mayRun: false, reason: 'active_on_another_machine' },
    });
    const denials = await machines.world.rows(
      `select from licenses.license_denials where license_id = $1 and outcome = 'other_machine'`,
      id,
    );
    expect(denials).toHaveLength(1);
  });

  it('a token answers for its own product alone', async () => {
    const { key, id } = await machines.world.issue();
    await machines.world.asOperator((ask) =>
      makeProduct(ask, { name: 'acme', keyPrefix: 'ACME1', seal: machines.world.seal }),
    );
    await machines.refresh();
    const client = installOfflineClient();
    const request = await client.requestOffline(key);
    const { json } = await call({ request }, await tokenOf({ product: 'acme' }));
    expect(json).toMatchObject({ licenseId: null, refused: { reason: 'unknown_license_key' } });
    expect(await listHeldMachines(id)).toHaveLength(0);
    // This answer is signed with the key of another product.
    expect(await client.acceptOffline(json.answer)).toMatchObject({ mayRun: false, reason: 'untrusted' });
  });

  it('says what does not fit, and needs the scope of changes', async () => {
    const { key } = await machines.world.issue();
    const [request, desk] = [await installOfflineClient().requestOffline(key), await tokenOf()];
    for (const body of [
      ...[{}, { request: '' }, { request: 'licreq1.e30' }, { request: 'x'.repeat(5_000) }, { request: 7 }],
      ...[
        { request, for: '400d' },
        { request, for: '0d' },
        { request, machineId: 'mine' },
      ],
    ])
      expect([body, (await call(body, desk)).status]).toEqual([body, 400]);
    const reader = await tokenOf({ scopes: ['read', 'issue', 'webhooks'] });
    expect((await call({ request }, reader)).status).toBe(403);
  });
});

describe('on the pages', () => {
  const upload = (address: string, request: string, headers: Record<string, string> = {}) => {
    const form = new FormData();
    form.set('request', new Blob([`${request}\n`]), 'license-request.txt');
    return fetch(`${machines.serviceUrl}${address}`, {
      method: 'POST',
      headers: { origin: machines.serviceUrl, ...headers },
      body: form,
    });
  };
  const linkOf = (id: string) =>
    machines.world.asOperator((ask) => createCustomerLink(ask, [machines.world.seal], id, 3_600));

  it('a customer uploads the request and downloads the answer', async () => {
    const { key, id } = await machines.world.issue({ term: { kind: 'perpetual' } });
    const client = installOfflineClient();
    const answer = await upload(`${await linkOf(id)}/answer`, await client.requestOffline(key));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="license-answer.txt"');
    const standing = await client.acceptOffline(await answer.text());
    expect(standing).toMatchObject({ mayRun: true });
    expect(daysOf(standing)).toBe(30);
    const [event] = await machines.world.rows<{ actor_ref: string }>(
      `select actor_ref from licenses.license_events where license_id = $1 and kind = 'activated'`,
      id,
    );
    expect(event?.actor_ref).toBe('the customer, by a file');
  });

  it('a customer gets no answer for another license, and is told why there is none', async () => {
    const [one, other] = [await machines.world.issue(), await machines.world.issue()];
    const client = installOfflineClient();
    const link = await linkOf(one.id);
    const wrong = await upload(`${link}/answer`, await client.requestOffline(other.key));
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('another license key')]);
    expect(await listHeldMachines(other.id)).toHaveLength(0);
    await upload(`${link}/answer`, await client.requestOffline(one.key));
    const taken = await upload(`${link}/answer`, await installOfflineClient().requestOffline(one.key));
    expect([taken.status, await taken.text()]).toEqual([
      409,
      expect.stringContaining('active on another machine'),
    ]);
    for (const text of ['', 'nothing of ours', 'x'.repeat(9_000)])
      expect((await upload(`${link}/answer`, text)).status).toBeGreaterThanOrEqual(400);
    const foreign = await upload(`${link}/answer`, await client.requestOffline(one.key), {
      origin: 'https://evil.example',
    });
    expect(foreign.status).toBe(403);
    const broken = await fetch(`${machines.serviceUrl}${link}/answer`, {
      method: 'POST',
      headers: { origin: machines.serviceUrl, 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x\r\nnot a form',
    });
    expect(broken.status).toBe(400);
  });

  it('support answers what it may change, and is named in the history', async () => {
    const { key, id } = await machines.world.issue();
    const sessionOf = async (scopes: ('read' | 'change')[]): Promise<string> => {
      const { secret } = await machines.world.asOperator((ask) =>
        makeToken(ask, { name: `desk-${scopes.length}`, scopes }),
      );
      const visitor = createVisitor(() => machines.serviceUrl);
      await visitor.submit('/support/sign-in', { token: secret });
      return `license-support=${visitor.cookies.get('license-support') ?? ''}`;
    };
    const client = installOfflineClient();
    const address = `/support/licenses/${id}/answer`;
    const request = await client.requestOffline(key);
    const same = { 'sec-fetch-site': 'same-origin' };
    expect((await upload(address, request, { ...same, cookie: await sessionOf(['read']) })).status).toBe(403);
    expect(await listHeldMachines(id)).toHaveLength(0);
    const cookie = await sessionOf(['read', 'change']);
    const answer = await upload(address, request, { ...same, cookie });
    expect(await client.acceptOffline(await answer.text())).toMatchObject({ mayRun: true });
    const [event] = await machines.world.rows<{ actor_ref: string }>(
      `select actor_ref from licenses.license_events where license_id = $1 and kind = 'activated'`,
      id,
    );
    expect(event?.actor_ref).toBe('token desk-2');
  });
});
