/** Tests signing in at an organization's identity provider, and attacks against it. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { useCompanyIssuer } from '@muster/testing/company';
import { createCompany, type CompanyWithProvider } from './company.ts';
import { type VisitedPage, type Browser, type VisitedHeaders, useInstallation } from './installation.ts';

const installation = useInstallation({}, { host: 'localhost', networks: '127.0.0.0/8:*' });
const { world } = installation;
const company = useCompanyIssuer();

let named: CompanyWithProvider;
beforeEach(async () => {
  named = await createCompany(installation, company);
});

/** Starts to sign in at a provider and returns the URL that the browser is sent to. */
async function startSignIn(browser: Browser, form: Record<string, string> = {}): Promise<string> {
  const answer = await browser.submit('/auth/issuer', {
    provider: named.providerId,
    to: '/sign-in',
    ...form,
  });
  const refresh = String(answer.headers['refresh'] ?? '');
  if (!refresh.startsWith('0;url=')) throw new Error(answer.text);
  return refresh.slice('0;url='.length);
}
/** Opens the URL to which the issuer redirects the browser, with the headers of a cross-site redirect. */
const returnFromIssuer = (browser: Browser, at: string): Promise<VisitedPage> => {
  const { pathname, search } = new URL(at);
  const headers: VisitedHeaders = { 'sec-fetch-site': 'cross-site' };
  return browser.open(pathname + search, headers);
};
async function signInAt(subject: string, browser = installation.browser()): Promise<VisitedPage> {
  return returnFromIssuer(browser, await company.signIn(await startSignIn(browser), subject));
}
const isSignedIn = async (browser: Browser): Promise<boolean> =>
  (await browser.open('/auth/session', { 'sec-fetch-site': 'same-origin' })).status === 200;
const withParameter = (at: string, name: string, value: string | null): string => {
  const url = new URL(at);
  if (value === null) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  return url.href;
};

describe('an address whose domain an issuer speaks for', () => {
  it('is led there, or has a link mailed all the same', async () => {
    const { email } = await named.employee();
    const browser = installation.browser();
    const { text } = await browser.submit('/auth/link', { email: email.toUpperCase() });
    expect(text).toContain('Continue with Acme Login');
    expect(text).toContain(named.providerId);
    expect((await browser.submit('/auth/link', { email, by: 'mail' })).location).toBe('/sign-in/mail');
  });

  it('is not led there before the domain is proven', async () => {
    await world.rows(
      'update identity_provider_domains set proven_at = null where provider_id = $1',
      named.providerId,
    );
    const browser = installation.browser();
    const { location } = await browser.submit('/auth/link', { email: `eve@${named.domain}` });
    expect(location).toBe('/sign-in/mail');
    const { status } = await browser.submit('/auth/issuer', { provider: named.providerId });
    expect(status).toBe(410);
  });
});

describe('signing in at an issuer', () => {
  it('lets a member in, with PKCE, state and nonce, and a fresh session', async () => {
    const { subject, email, memberId } = await named.employee();
    const browser = installation.browser();
    const address = new URL(await startSignIn(browser, { email }));
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      ...{ response_type: 'code', code_challenge_method: 'S256', login_hint: email },
      ...{ state: expect.any(String), nonce: expect.any(String), scope: 'openid email profile' },
    });
    const { status, location } = await returnFromIssuer(browser, await company.signIn(address.href, subject));
    expect([status, location]).toEqual([303, '/sign-in']);
    const { status: called, body } = await browser.call(named.orgId, 'session.identity');
    expect([called, body['member']]).toMatchObject([200, { id: memberId }]);
  });

  it('knows a person by issuer and subject, whatever address they have there by now', async () => {
    const { subject, memberId } = await named.employee();
    await signInAt(subject);
    company.people.set(subject, { email: `renamed@${named.domain}`, email_verified: true });
    const browser = installation.browser();
    await signInAt(subject, browser);
    const { body } = await browser.call(named.orgId, 'session.identity');
    expect(body['member']).toMatchObject({ id: memberId });
  });

  it('gives another person who has the address by now no account of the one before', async () => {
    const { subject, email } = await named.employee();
    await signInAt(subject);
    const heir = newId();
    company.people.set(heir, { email: `heir@${named.domain}`, email_verified: true });
    expect((await signInAt(heir)).text).toContain('You’re not in an organization here');
    expect(
      await world.rows(
        'select subject from sign_in.identities i join sign_in.accounts a on a.id = i.account_id where a.email = $1',
        email,
      ),
    ).toEqual([{ subject }]);
  });

  it('asks there for a proof anew where the person is signed in, and takes its time for that of the proof', async () => {
    const { subject } = await named.employee();
    const browser = installation.browser();
    await signInAt(subject, browser);
    const before = browser.session();
    const address = await startSignIn(browser);
    expect(Object.fromEntries(new URL(address).searchParams)).toMatchObject({
      prompt: 'login',
      max_age: '600',
    });
    await returnFromIssuer(browser, await company.signIn(address, subject));
    expect(browser.session()).not.toBe(before);
    const { status } = await browser.call(named.orgId, 'passkeys.delete', { passkeyId: newId() });
    expect(status).toBe(404);
  });
});

describe('an issuer with words of its own', () => {
  it.each([
    ['a name with NUL', { name: 'Eve\0' }],
    ['a name of two lines', { name: 'Eve\nBcc: all@example.com' }],
    ['a name of half a character', { name: 'Eve \ud83d' }],
  ])('%s gives the account no such name', async (_, claims) => {
    const { subject, email } = await named.employee(claims);
    await world.rows(`update members set email = 'other-' || email where email = $1`, email);
    await world.rows(
      `insert into invitations (org_id, id, email, role, invited_by, expires_at)
       select $1, $2, $3, 'member', '{}', now() + interval '1 day'`,
      named.orgId,
      newId(),
      email,
    );
    expect((await signInAt(subject)).status).toBe(303);
    const [account] = await world.rows<{ name: string }>(
      'select name from sign_in.accounts where email = $1',
      email,
    );
    expect(account).toEqual({ name: subject });
  });

  it('that says the time of a proof in milliseconds signs in, and proves nothing anew', async () => {
    const { subject, email } = await named.employee({ authTime: Date.now() });
    const browser = await installation.signIn(email);
    await world.rows(
      `update sign_in.sessions set proven_at = now() - interval '1 hour' where account_id =
         (select id from sign_in.accounts where email = $1)`,
      email,
    );
    expect((await signInAt(subject, browser)).status).toBe(303);
    const { status } = await browser.call(named.orgId, 'passkeys.delete', { passkeyId: newId() });
    expect(status).toBe(403);
  });

  it('that calls a person by what is no subject signs in no one', async () => {
    const { email } = await named.employee();
    const subject = 'x'.repeat(256);
    company.people.set(subject, { email, email_verified: true });
    const { status, text } = await signInAt(subject);
    expect([status, text]).toEqual([403, expect.stringContaining('Acme Login')]);
  });
});

describe('an attack', () => {
  it('by the session that a browser has at the issuer proves nothing anew', async () => {
    const { subject } = await named.employee();
    const browser = installation.browser();
    await signInAt(subject, browser);
    await world.rows(
      `update sign_in.sessions set proven_at = now() - interval '1 hour' where account_id =
         (select account_id from sign_in.identities where subject = $1)`,
      subject,
    );
    // Without `prompt` and `max_age` the issuer does not authenticate the person again, and its response has
    // no time of authentication.
    const asked = withParameter(withParameter(await startSignIn(browser), 'prompt', null), 'max_age', null);
    expect((await returnFromIssuer(browser, await company.signIn(asked, subject))).status).toBe(303);
    const deletes = () => browser.call(named.orgId, 'passkeys.delete', { passkeyId: newId() });
    expect((await deletes()).status).toBe(403);
    await signInAt(subject, browser);
    expect((await deletes()).status).toBe(404);
  });

  const refused = async (answer: VisitedPage, browser: Browser): Promise<void> => {
    expect([403, 410]).toContain(answer.status);
    expect(await isSignedIn(browser)).toBe(false);
  };

  it('by an address that the issuer has not verified joins no account', async () => {
    const { subject } = await named.employee({ email_verified: false });
    const browser = installation.browser();
    await refused(await signInAt(subject, browser), browser);
  });

  it('by an address of which nothing is said counts only where the organization trusts its issuer', async () => {
    const { subject } = await named.employee({ email_verified: undefined });
    const browser = installation.browser();
    await refused(await signInAt(subject, browser), browser);
    await world.rows('update identity_providers set trusts_addresses = true where id = $1', named.providerId);
    expect((await signInAt(subject, browser)).status).toBe(303);
    // The issuer states that the address is not verified.
    const { subject: other } = await named.employee({ email_verified: false });
    const second = installation.browser();
    await refused(await signInAt(other, second), second);
  });

  it('by an address of a domain that is not the organization’s takes over no account', async () => {
    const victim = `victim-${newId()}@example.com`;
    const { chloe } = await world.org();
    await world.rows('update members set email = $2 where id = $1', chloe.me.memberId, victim);
    await installation.signIn(victim);
    const { subject } = await named.employee({ email: victim });
    const browser = installation.browser();
    await refused(await signInAt(subject, browser), browser);
  });

  it('by an identity that is known, with an address of elsewhere, is no word of the organization’s', async () => {
    const { subject } = await named.employee();
    await signInAt(subject);
    company.people.set(subject, { email: 'eve@elsewhere.example', email_verified: true });
    const browser = installation.browser();
    await refused(await signInAt(subject, browser), browser);
  });

  it('by leading another browser to one’s own answer does not sign it in', async () => {
    const { subject } = await named.employee();
    const at = await company.signIn(await startSignIn(installation.browser()), subject);
    const victim = installation.browser();
    await refused(await returnFromIssuer(victim, at), victim);
    await startSignIn(victim);
    await refused(await returnFromIssuer(victim, at), victim);
  });

  it('by one’s own code in the answer to another’s question fails for its verifier', async () => {
    const { subject } = await named.employee();
    const own = new URL(await company.signIn(await startSignIn(installation.browser()), subject));
    const victim = installation.browser();
    const asked = new URL(await startSignIn(victim));
    const state = asked.searchParams.get('state');
    await refused(await returnFromIssuer(victim, withParameter(own.href, 'state', state)), victim);
  });

  it.each([
    ['another state', 'state', 'made-up'],
    ['no state', 'state', null],
    ['another issuer', 'iss', 'https://evil.example'],
    ['no issuer, of one that says it always', 'iss', null],
  ])('by an answer with %s fails', async (_, name, value) => {
    const { subject } = await named.employee();
    const browser = installation.browser();
    const at = await company.signIn(await startSignIn(browser), subject);
    await refused(await returnFromIssuer(browser, withParameter(at, name, value)), browser);
  });

  it('by an ID token that was made for another question fails for its nonce', async () => {
    const { subject } = await named.employee();
    const browser = installation.browser();
    const asked = withParameter(await startSignIn(browser), 'nonce', 'of-another-question');
    await refused(await returnFromIssuer(browser, await company.signIn(asked, subject)), browser);
  });

  it('by an answer that comes too late, or to a browser that asked for something else, fails', async () => {
    const { subject } = await named.employee();
    const browser = installation.browser();
    const at = await company.signIn(await startSignIn(browser), subject);
    await world.rows(`update sign_in.flows set expires_at = now() where kind = 'issuer'`);
    await refused(await returnFromIssuer(browser, at), browser);
    const other = installation.browser();
    const second = await company.signIn(await startSignIn(other), subject);
    await world.rows(`update sign_in.flows set kind = 'passkey'`);
    await refused(await returnFromIssuer(other, second), other);
  });

  it('by a second try after one that failed fails: a try uses the question up', async () => {
    const { subject } = await named.employee();
    const browser = installation.browser();
    const at = await company.signIn(await startSignIn(browser), subject);
    const flow = browser.cookies.get('muster-flow') ?? '';
    await refused(await returnFromIssuer(browser, withParameter(at, 'state', 'guessed')), browser);
    browser.cookies.set('muster-flow', flow);
    expect((await returnFromIssuer(browser, at)).status).toBe(410);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('by preparing an account for somebody else leaves the attacker nothing in it', async () => {
    const victim = `victim-${newId()}@${named.domain}`;
    const { chloe, orgId } = await world.org();
    await world.rows('update members set email = $2 where id = $1', chloe.me.memberId, victim);
    // The attacker requests a link that they cannot read, and signs in with an unverified address.
    const attacker = installation.browser();
    await attacker.submit('/auth/link', { email: victim, by: 'mail' });
    const { subject } = await named.employee({ email: victim, email_verified: false });
    await refused(await signInAt(subject, attacker), attacker);
    expect(await world.rows('select id from sign_in.accounts where email = $1', victim)).toEqual([]);
    const own = await installation.signIn(victim);
    expect((await own.call(orgId, 'session.identity')).status).toBe(200);
    const rows = await world.rows(
      `select i.subject as what from sign_in.identities i join sign_in.accounts a on a.id = i.account_id where a.email = $1
       union all select p.name from sign_in.passkeys p join sign_in.accounts a on a.id = p.account_id where a.email = $1`,
      victim,
    );
    expect(rows).toEqual([]);
    await refused(await signInAt(subject, attacker), attacker);
  });

  it('by the answer to a question of another organization fails', async () => {
    const { subject } = await named.employee();
    const browser = installation.browser();
    const at = await company.signIn(await startSignIn(browser), subject);
    const { orgId } = await world.org();
    // The code is not sent to another organization's issuer.
    expect((await returnFromIssuer(browser, at.replace(named.orgId, orgId))).status).toBe(410);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('by an answer that was used fails', async () => {
    const { subject } = await named.employee();
    const browser = installation.browser();
    const at = await company.signIn(await startSignIn(browser), subject);
    expect((await returnFromIssuer(browser, at)).status).toBe(303);
    const kept = installation.browser();
    await refused(await returnFromIssuer(kept, at), kept);
    expect((await returnFromIssuer(browser, at)).status).toBe(410);
  });

  it('by a page of another origin begins nothing', async () => {
    const browser = installation.browser();
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const { status } = await browser.submit('/auth/issuer', { provider: named.providerId }, headers);
    expect(status).toBe(403);
  });

  it('by a session of before finds another secret after the proof', async () => {
    const { subject, email } = await named.employee();
    const browser = await installation.signIn(email);
    const before = browser.session();
    await signInAt(subject, browser);
    const thief = installation.browser();
    thief.cookies.set('muster', before);
    expect(await isSignedIn(thief)).toBe(false);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('by the address to go on to leads nowhere else', async () => {
    const { subject } = await named.employee();
    const browser = installation.browser();
    const address = await startSignIn(browser, { to: '//evil.example' });
    const { location } = await returnFromIssuer(browser, await company.signIn(address, subject));
    expect(location).toBe('/sign-in');
  });
});

describe('an organization that lets in only who came by its issuer', () => {
  const ask = (rules: object) => named.owner.call(named.orgId, 'policy.update', rules);

  it('refuses a session of a link from the next call on, says where to go, and lets it in after', async () => {
    const { subject, email } = await named.employee();
    const browser = await installation.signIn(email);
    const call = () => browser.call(named.orgId, 'session.identity');
    expect((await call()).status).toBe(200);
    expect((await ask({ allowedIdentityProviders: [named.providerId] })).status).toBe(200);
    const { status, body } = await call();
    const at = `/sign-in?organization=${named.orgId}`;
    expect([status, body['details']]).toMatchObject([403, { reason: 'required_proof', at }]);
    expect((await browser.open(at)).text).toContain('Continue with Acme Login');
    await signInAt(subject, browser);
    expect((await call()).status).toBe(200);
    // The owner is not subject to this rule, and may still call without signing in through the issuer.
    expect((await named.owner.call(named.orgId, 'session.identity')).status).toBe(200);
  });

  it('shows another person nothing of what it asks for', async () => {
    await ask({ allowedIdentityProviders: [named.providerId] });
    const stranger = `stranger-${newId()}@example.com`;
    const { chloe } = await world.org();
    await world.rows('update members set email = $2 where id = $1', chloe.me.memberId, stranger);
    const browser = await installation.signIn(stranger);
    const { text } = await browser.open(`/sign-in?organization=${named.orgId}`);
    expect(text).not.toContain('Acme Login');
  });
});
