/** Tests attacks on the sign-in to support with the operators' issuer. */
import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { createVisitor, type Visitor, type VisitorAnswer } from '@muster/testing/visitor';
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

const named = (name: string) =>
  support.world().rows('select from licenses.operator_sessions where name = $1', name);

describe('an attack', () => {
  const refused = async (answer: VisitorAnswer, one: Visitor): Promise<void> => {
    expect([403, 410]).toContain(answer.status);
    expect(await isIn(one)).toBe(false);
  };
  const granted = async (claims: object = {}): Promise<string> => {
    const { subject, email } = hire(claims);
    await grant(email);
    return subject;
  };
  const altered = (at: string, name: string, value: string | null): string => {
    const url = new URL(at);
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
    return url.href;
  };

  it.each([
    ['that the issuer has not verified', { email_verified: false }],
    ['of which it does not say whether it is verified', { email_verified: undefined }],
  ])('by an address %s gets nothing', async (_, claims) => {
    const subject = await granted(claims);
    const one = visitor();
    const answer = await signIn(subject, one);
    await refused(answer, one);
    // The page advises the operator to grant rights by the person's subject instead of the address.
    expect(answer.text).toContain(`license operator grant sub=${subject}`);
    await grant(`sub=${subject}`);
    expect((await signIn(subject, one)).status).toBe(303);
    expect(await named(subject)).toHaveLength(1);
  });

  it('by an address that another person had before gets nothing of theirs', async () => {
    const { subject, email } = hire();
    await grant(email);
    await signIn(subject);
    const heir = newId();
    company.people.set(heir, { email, email_verified: true });
    const one = visitor();
    await refused(await signIn(heir, one), one);
    // The person who signed in first keeps the grant, even when the person's address changes.
    company.people.set(subject, { email: `renamed-${subject}@acme.example`, email_verified: true });
    expect((await signIn(subject)).status).toBe(303);
    await grant(email);
    expect((await signIn(heir, one)).status).toBe(303);
  });

  it('by a claim that only looks like the one that is granted gets nothing', async () => {
    const group = `support-${newId()}`;
    await grant(`groups=${group}`);
    for (const groups of [[`${group}x`], [`x=${group}`], [], [`groups=${group}`]]) {
      const { subject } = hire({ groups });
      const one = visitor();
      await refused(await signIn(subject, one), one);
    }
    const { subject } = hire({ name: group, groups: ['other'] });
    const one = visitor();
    await refused(await signIn(subject, one), one);
  });

  it('by leading another browser to one’s own answer does not sign it in', async () => {
    const subject = await granted();
    const at = await company.signIn(await begin(visitor()), subject);
    const victim = visitor();
    await refused(await comeBack(victim, at), victim);
    await begin(victim);
    await refused(await comeBack(victim, at), victim);
  });

  it('by one’s own code in the answer to another’s question fails for its verifier', async () => {
    const subject = await granted();
    const own = await company.signIn(await begin(visitor()), subject);
    const victim = visitor();
    const state = new URL(await begin(victim)).searchParams.get('state');
    await refused(await comeBack(victim, altered(own, 'state', state)), victim);
  });

  it.each([
    ['another state', 'state', 'made-up'],
    ['no state', 'state', null],
    ['another issuer', 'iss', 'https://evil.example'],
    ['no issuer, of one that says it always', 'iss', null],
  ])('by an answer with %s fails', async (_, name, value) => {
    const subject = await granted();
    const one = visitor();
    const at = await company.signIn(await begin(one), subject);
    await refused(await comeBack(one, altered(at, name, value)), one);
  });

  it('by an ID token that was made for another question fails for its nonce', async () => {
    const subject = await granted();
    const one = visitor();
    const asked = altered(await begin(one), 'nonce', 'of-another-question');
    await refused(await comeBack(one, await company.signIn(asked, subject)), one);
  });

  it('by an answer that comes too late, was used, or is tried again after a failure fails', async () => {
    const subject = await granted();
    const one = visitor();
    const late = await company.signIn(await begin(one), subject);
    await support.world().rows('update licenses.operator_flows set expires_at = clock_timestamp()');
    await refused(await comeBack(one, late), one);
    const at = await company.signIn(await begin(one), subject);
    const flow = one.cookies.get('license-support-flow') ?? '';
    await refused(await comeBack(one, altered(at, 'state', 'guessed')), one);
    one.cookies.set('license-support-flow', flow);
    expect((await comeBack(one, at)).status).toBe(410);
    expect(await isIn(one)).toBe(false);
  });

  it('by a form of another origin begins, changes and ends nothing', async () => {
    const subject = await granted();
    const one = visitor();
    await signIn(subject, one);
    const { id } = await sold();
    for (const headers of [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'null' },
      { origin: undefined },
      { 'sec-fetch-site': undefined },
    ])
      for (const at of ['/support/issuer', '/support/sign-out', `/support/licenses/${id}/release`])
        expect([at, (await one.submit(at, { slot: '1' }, headers)).status]).toEqual([at, 403]);
    expect(await isIn(one)).toBe(true);
  });

  it.each(['//evil.example', 'https://evil.example/', '/\\evil.example', '/\t/evil.example'])(
    'by %j as the address to go on to leads nowhere else',
    async (to) => {
      const subject = await granted();
      const one = visitor();
      const at = await company.signIn(await begin(one, { to }), subject);
      expect((await comeBack(one, at)).location).toBe('/support');
    },
  );

  it('by an issuer inside the network gets no request into it that was not named', async () => {
    const environment = { ...support.environment(), WEBHOOK_NETWORKS: '' };
    const service = await support.world().start({ environment });
    const one = createVisitor(() => service.url);
    const { status, text } = await one.submit('/support/issuer', {});
    expect([status, one.cookies.size]).toEqual([403, 0]);
    expect(text).toContain('could not sign you in');
    await service.stop();
  });

  it('by a cookie that was made up finds nothing', async () => {
    for (const value of ['x', '', 'a'.repeat(43), `${newId()}.1.x`]) {
      const one = visitor();
      one.cookies.set('license-support', value);
      expect(await isIn(one)).toBe(false);
    }
  });

  it('by listening finds no one to listen to: without https nobody signs in', async () => {
    const service = await support.world().start();
    const one = createVisitor(() => service.url);
    for (const headers of [{ host: 'licenses.example.com' }, { host: 'a b' }]) {
      const { status, headers: sent } = await one.open('/support', headers);
      expect([status, sent['set-cookie']]).toEqual([400, undefined]);
    }
    expect((await one.open('/support')).status).toBe(200);
    await service.stop();
  });
});
