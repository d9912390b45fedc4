/** Tests the sign-in of support staff with the operators' issuer: their grants, rights and sessions. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createPool, newId } from '@muster/driver';
import { findFreePort, startBreakableRelay } from '@muster/testing';
import { createVisitor, type Visitor, type VisitorAnswer } from '@muster/testing/visitor';
import { readConfig } from '../src/config.ts';
import { deleteExpiredSessions } from '../src/operators/sessions.ts';
import { makeToken } from '../src/operators/tokens.ts';
import { useSupport } from './people.ts';

const support = useSupport();
const {
  company,
  begin,
  comeBack,
  grant,
  addEmployee: hire,
  signIn,
  isSignedIn: isIn,
  sellLicense: sold,
  visitor,
} = support;

const free = (one: Visitor, id: string): Promise<VisitorAnswer> =>
  one.submit(`/support/licenses/${id}/release`, { slot: '1' });
const querySessions = (where: string, ...values: unknown[]) =>
  support.world().rows(`select from licenses.operator_sessions where ${where}`, ...values);

describe('who works in support', () => {
  it('presses one button, comes in with PKCE, state and nonce, and goes on to where they were', async () => {
    const { subject, email } = hire();
    await grant(email);
    const { id } = await sold();
    const one = visitor();
    const asked = await one.open(`/support/licenses/${id}`);
    expect(asked.text).toContain('Continue with Acme Login');
    expect(asked.text).toContain(`value="/support/licenses/${id}"`);
    expect(asked.text).not.toContain('Token');
    const address = await begin(one, { to: `/support/licenses/${id}` });
    expect(Object.fromEntries(new URL(address).searchParams)).toMatchObject({
      ...{ response_type: 'code', code_challenge_method: 'S256', scope: 'openid email profile' },
      ...{ state: expect.any(String), nonce: expect.any(String), code_challenge: expect.any(String) },
    });
    const { status, location } = await comeBack(one, await company.signIn(address, subject));
    expect([status, location]).toEqual([303, `/support/licenses/${id}`]);
    expect((await one.open(location)).text).toContain(email);
  });

  it('is the one whom the history of a license names', async () => {
    const { subject, email } = hire();
    await grant(email.toUpperCase());
    const one = visitor();
    await signIn(subject, one);
    const { id } = await sold();
    expect((await free(one, id)).text).toContain(`person ${email}`);
    const rows = await support
      .world()
      .rows(
        `select actor, actor_ref from licenses.license_events where license_id = $1 and kind = 'released'`,
        id,
      );
    expect(rows).toEqual([{ actor: 'operator', actor_ref: `person ${email}` }]);
  });

  it('sees the products that were granted, and changes those for which that was', async () => {
    const { subject, email } = hire({ groups: ['sales', 'license-support'] });
    await grant(email, '--product', 'acme');
    const group = `support-${newId()}`;
    company.people.set(subject, { email, email_verified: true, groups: ['sales', group] });
    await support.run('operator', 'grant', `groups=${group}`, '--scope', 'read');
    const one = visitor();
    await signIn(subject, one);
    const [ours, acme] = [await sold(), await sold('acme')];
    expect((await one.open(`/support?q=${ours.orderRef}`)).text).toContain('1 found');
    expect((await one.open(`/support?q=${acme.orderRef}`)).text).toContain('1 found');
    expect((await one.open(`/support/licenses/${ours.id}`)).text).not.toContain('Release slot');
    expect((await free(one, ours.id)).status).toBe(403);
    expect((await free(one, acme.id)).status).toBe(200);
    const { subject: other, email: address } = hire();
    await grant(address);
    const second = visitor();
    await signIn(other, second);
    expect((await second.open(`/support?q=${acme.orderRef}`)).text).toContain('Nothing found');
    expect((await second.open(`/support/licenses/${acme.id}`)).status).toBe(404);
    expect((await free(second, acme.id)).status).toBe(404);
  });

  it('is shown what to ask for where nothing was granted, and has no session', async () => {
    const { subject, email } = hire();
    const one = visitor();
    const { status, text } = await signIn(subject, one);
    expect(status).toBe(403);
    expect(text).toContain(`license operator grant ${email}`);
    expect(one.cookies.size).toBe(0);
    await grant(email);
    expect((await signIn(subject, one)).status).toBe(303);
  });

  it('may no more from the next request on, once it is taken back, is over, or less was granted', async () => {
    const { subject, email } = hire();
    const { grant: first } = await grant(email);
    const one = visitor();
    await signIn(subject, one);
    expect(await isIn(one)).toBe(true);
    await support.run('operator', 'revoke', first.id);
    expect(await isIn(one)).toBe(false);
    await grant(email, '--for', '30d');
    await signIn(subject, one);
    await support
      .world()
      .rows(
        'update licenses.operator_grants set expires_at = clock_timestamp() where value = $1 and revoked_at is null',
        email,
      );
    expect(await isIn(one)).toBe(false);
    await grant(email);
    await signIn(subject, one);
    const { id } = await sold();
    await support.run('operator', 'grant', email, '--scope', 'read');
    // Signs in again, because a new grant takes effect only at the next sign-in.
    await signIn(subject, one);
    expect((await free(one, id)).status).toBe(403);
  });

  it('is told that the service is away, and nothing of the issuer, where the database is', async () => {
    const [wire, port] = [await startBreakableRelay(support.world().url), await findFreePort()];
    const operatorsPool = createPool({ url: wire.url, role: 'muster_license_operators', max: 1 });
    const other = await support.world().start({
      ...{ port, operatorsPool, webhookPollMillis: null },
      environment: { ...support.environment(), BASE_URL: `http://127.0.0.1:${port}` },
    });
    wire.cut();
    const answer = await createVisitor(() => other.url).submit('/support/issuer', {});
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(answer.text).not.toContain('Acme Login');
    await other.stop();
    await wire.close();
  });

  it('finds nothing where an operator named no such product, scope or person', async () => {
    for (const args of [
      ['ana', '--scope', 'read'],
      ['=x', '--scope', 'read'],
      ['groups=', '--scope', 'read'],
      ['ana@example.com', '--scope', 'change'],
      ['ana@example.com', '--scope', 'read,issue'],
      ['ana@example.com', '--scope', 'read', '--product', 'unheard'],
    ])
      await expect(support.run('operator', 'grant', ...args)).rejects.toThrow('ended with 1');
    await expect(support.run('session', 'revoke')).rejects.toThrow('ended with 1');
    await expect(support.run('operator', 'revoke', newId())).rejects.toThrow('no grant');
  });
});

describe('a session', () => {
  let [subject, email] = ['', ''];
  let one: Visitor;
  beforeEach(async () => {
    ({ subject, email } = hire());
    await grant(email);
    one = visitor();
    await signIn(subject, one);
  });
  const cookie = (): string => one.cookies.get('license-support') ?? '';

  it('is listed for operators with who, since when and from where, and ended by them at once', async () => {
    const { items } = await support.run<{ items: { id: string; name: string }[] }>('session', 'list');
    const own = items.find(({ name }) => name === email);
    expect(own).toMatchObject({ by: 'issuer', ip: '127.0.0.1', userAgent: 'Spec 1.0', isGood: true });
    await support.run('session', 'revoke', own?.id ?? '');
    expect(await isIn(one)).toBe(false);
    await signIn(subject, one);
    const { ended } = await support.run<{ ended: number }>('session', 'revoke', '--all');
    expect(ended).toBeGreaterThan(0);
    expect(await isIn(one)).toBe(false);
  });

  it('ends by signing out, also for who has copied its cookie', async () => {
    const thief = visitor();
    thief.cookies.set('license-support', cookie());
    expect(await isIn(thief)).toBe(true);
    await one.submit('/support/sign-out', {});
    expect(one.cookies.size).toBe(0);
    expect(await isIn(thief)).toBe(false);
  });

  it('lasts an hour without use and eight hours at most', async () => {
    const age = (set: string) =>
      support.world().rows(`update licenses.operator_sessions set ${set} where name = $1`, email);
    await age(`last_seen_at = clock_timestamp() - interval '59 minutes'`);
    expect(await isIn(one)).toBe(true);
    // The last request was a use of the session, so its hour of permitted idleness began again.
    expect(
      await querySessions(`name = $1 and last_seen_at > clock_timestamp() - interval '1 hour'`, email),
    ).toHaveLength(1);
    expect(
      await querySessions(`name = $1 and expires_at <= created_at + interval '8 hours 1 minute'`, email),
    ).toHaveLength(1);
    await age(`last_seen_at = clock_timestamp() - interval '61 minutes'`);
    expect(await isIn(one)).toBe(false);
    await age('last_seen_at = clock_timestamp(), expires_at = clock_timestamp()');
    expect(await isIn(one)).toBe(false);
  });

  it('has another secret after signing in again, and the one before ends', async () => {
    const before = cookie();
    await signIn(subject, one);
    expect(cookie()).not.toBe(before);
    const thief = visitor();
    thief.cookies.set('license-support', before);
    expect(await isIn(thief)).toBe(false);
    expect(await isIn(one)).toBe(true);
  });

  it('is of the issuer of now: another one, or none, signs nobody in by it', async () => {
    for (const environment of [
      { ...support.environment(), OPERATORS_ISSUER: 'https://other.example' },
      { ...support.environment(), OPERATORS_ISSUER: '' },
    ]) {
      const service = await support.world().start({ environment });
      const { text } = await service.call('/support', { headers: { cookie: `license-support=${cookie()}` } });
      expect(text).not.toContain('role="search"');
      await service.stop();
    }
    expect(await isIn(one)).toBe(true);
  });

  it('is forgotten a month after its end, with what browsers never came back from', async () => {
    await begin(visitor());
    await support.world().rows(
      `with flows as (update licenses.operator_flows set expires_at = clock_timestamp())
       update licenses.operator_sessions set expires_at = clock_timestamp() - interval '31 days' where name = $1`,
      email,
    );
    await support.world().asOperator(deleteExpiredSessions);
    expect(await querySessions('name = $1', email)).toHaveLength(0);
    expect(await support.world().rows('select from licenses.operator_flows')).toHaveLength(0);
  });

  it('is a cookie for this host by https alone, unreadable for scripts', async () => {
    const environment = { ...support.environment(), BASE_URL: 'https://licenses.example.com' };
    const service = await support.world().start({ environment });
    const ofPage = { origin: 'https://licenses.example.com', 'sec-fetch-site': 'same-origin' };
    const other = createVisitor(() => service.url);
    const { headers } = await other.submit('/support/issuer', {}, ofPage);
    expect(String(headers['set-cookie'])).toMatch(
      /^__Host-license-support-flow=[\w-]{43}; Max-Age=900; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    await service.stop();
  });
});

describe('a token', () => {
  it('signs nobody in where there is an issuer, not even by a session of before', async () => {
    const { secret } = await support
      .world()
      .asOperator((ask) => makeToken(ask, { name: 'before', scopes: ['read'] }));
    const one = visitor();
    const { status, text } = await one.submit('/support/sign-in', { token: secret });
    expect([status, one.cookies.size]).toEqual([401, 0]);
    expect(text).toContain('Continue with Acme Login');
    const without = await support.world().start({
      environment: { ...support.environment(), OPERATORS_ISSUER: '' },
    });
    const before = createVisitor(() => without.url);
    expect((await before.submit('/support/sign-in', { token: secret })).status).toBe(303);
    one.cookies.set('license-support', before.cookies.get('license-support') ?? '');
    expect(await isIn(one)).toBe(false);
    await without.stop();
  });
});

describe('the configuration', () => {
  const needed = { DATABASE_URL: 'postgres://localhost/licenses', OPERATORS_ISSUER: 'https://id.example' };
  it('needs a client, and an address where people are safe', () => {
    const client = { OPERATORS_CLIENT_ID: 'licenses' };
    expect(() => readConfig(needed)).toThrow('OPERATORS_CLIENT_ID');
    expect(() => readConfig({ ...needed, ...client })).toThrow('BASE_URL');
    expect(() => readConfig({ ...needed, ...client, BASE_URL: 'http://licenses.example.com' })).toThrow(
      'https',
    );
    const { operatorsIssuer } = readConfig({
      ...needed,
      ...client,
      BASE_URL: 'https://licenses.example.com',
    });
    expect(operatorsIssuer).toMatchObject({ name: 'id.example', clientSecret: null });
  });

  it('is looked at by doctor', async () => {
    const look = async () =>
      (await support.run<{ findings: { what: string; is: string; says: string }[] }>('doctor')).findings.find(
        ({ what }) => what === 'support',
      );
    await grant(hire().email);
    expect(await look()).toMatchObject({ is: 'well', says: expect.stringContaining('Acme Login answers') });
  });
});
