/**
 * Sign-in links: their recipients and the browsers in which they work. Responses do not reveal which
 * addresses are known.
 */
import { describe, expect, it } from '@jest/globals';
import { createVisitor } from '@muster/testing/visitor';
import { useInstallation } from './installation.ts';

const installation = useInstallation();
const { world } = installation;

let count = 0;
/** Creates a member with an address that only this test uses. */
async function createMember(): Promise<{ email: string; orgId: string; memberId: string }> {
  const { orgId, chloe } = await world.org();
  const email = `chloe-${(count += 1)}@acme.example`;
  const { memberId } = chloe.me;
  await world.rows('update members set email = $3 where org_id = $1 and id = $2', orgId, memberId, email);
  return { email, orgId, memberId };
}

/** Requests links in a person's name, each from a different network. */
const requestLinksElsewhere = (email: string, times: number) =>
  world.rows(
    `insert into sign_in.sign_ins (id, hash, code_hash, nonce_hash, email, return_to, ip, expires_at)
     select gen_random_uuid(), sha256(convert_to(n || $1::text, 'UTF8')), sha256('c'), sha256(convert_to(n || $1::text, 'UTF8')), $1::text, '/',
       '198.51.100.' || n, now() from generate_series(1, $2::int) n`,
    email,
    times,
  );

describe('a link', () => {
  it('signs in the browser that asked for it, once, and leads to where its person was going', async () => {
    const { email } = await createMember();
    const browser = installation.browser();
    expect(await browser.submit('/auth/link', { email, to: '/console/board?a=1' })).toMatchObject({
      status: 303,
      location: '/sign-in/mail',
    });
    const { token } = await installation.link(email);
    const page = await browser.open(`/auth/link?token=${token}`, { 'sec-fetch-site': 'cross-site' });
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Finish signing in')]);
    const [asked] = browser.cookies.values();
    expect(await browser.submit('/auth/link/use', { token })).toMatchObject({
      status: 303,
      location: '/console/board?a=1',
    });
    expect((await browser.open('/auth/session', { 'sec-fetch-site': 'same-origin' })).body).toMatchObject({
      account: { email },
    });
    const again = installation.browser();
    again.cookies.set('muster-link', asked ?? '');
    expect((await again.submit('/auth/link/use', { token })).status).toBe(410);
    expect(again.cookies.has('muster')).toBe(false);
  });

  it('that was forwarded to another browser signs in nobody there, and still does where it was asked for', async () => {
    const { email } = await createMember();
    const [own, other] = [installation.browser(), installation.browser()];
    await own.submit('/auth/link', { email });
    const { token, code } = await installation.link(email);
    const page = await other.open(`/auth/link?token=${token}`);
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('requested in another browser')]);
    expect((await other.submit('/auth/link/use', { token })).status).toBe(410);
    expect((await other.submit('/auth/code', { code })).status).toBe(422);
    // A browser with a pending link for another address cannot redeem this link.
    await other.submit('/auth/link', { email: (await createMember()).email });
    expect((await other.submit('/auth/link/use', { token })).status).toBe(410);
    expect((await other.submit('/auth/code', { code })).status).toBe(422);
    expect(other.cookies.has('muster')).toBe(false);
    expect((await own.submit('/auth/link/use', { token })).status).toBe(303);
  });

  it('is not used up by who only looks at it, such as a program that reads mails', async () => {
    const { email } = await createMember();
    const [own, reader] = [installation.browser(), installation.browser()];
    await own.submit('/auth/link', { email });
    const { token } = await installation.link(email);
    for (const one of [reader, reader, own]) await one.open(`/auth/link?token=${token}`);
    expect((await own.submit('/auth/link/use', { token })).status).toBe(303);
  });

  it('is over after a quarter of an hour', async () => {
    const { email } = await createMember();
    const browser = installation.browser();
    await browser.submit('/auth/link', { email });
    const { token, code } = await installation.link(email);
    await world.rows(`update sign_in.sign_ins set expires_at = now() where email = $1`, email);
    expect((await browser.open(`/auth/link?token=${token}`)).status).toBe(410);
    expect((await browser.submit('/auth/link/use', { token })).status).toBe(410);
    expect((await browser.submit('/auth/code', { code })).status).toBe(422);
  });
});

describe('the code of a mail', () => {
  it('signs in the browser that asked, where the mail was read elsewhere', async () => {
    const { email } = await createMember();
    const browser = installation.browser();
    await browser.submit('/auth/link', { email });
    const { code } = await installation.link(email);
    const typed = ` ${code.toLowerCase().replace('-', ' ')}`;
    expect((await browser.submit('/auth/code', { code: typed })).status).toBe(303);
    expect(browser.session()).toMatch(/^[\w-]{43}$/);
  });

  it('is good once, and takes its link along', async () => {
    const { email } = await createMember();
    const browser = installation.browser();
    await browser.submit('/auth/link', { email });
    const { token, code } = await installation.link(email);
    const asked = browser.cookies.get('muster-link') ?? '';
    expect((await browser.submit('/auth/code', { code })).status).toBe(303);
    const again = installation.browser();
    again.cookies.set('muster-link', asked);
    expect((await again.open(`/auth/link?token=${token}`)).status).toBe(410);
    expect((await again.submit('/auth/code', { code })).status).toBe(422);
    expect((await again.submit('/auth/link/use', { token })).status).toBe(410);
    expect(again.cookies.has('muster')).toBe(false);
  });

  it('may be missed three times, and then neither it nor the link is good', async () => {
    const { email } = await createMember();
    const browser = installation.browser();
    await browser.submit('/auth/link', { email });
    const { token, code } = await installation.link(email);
    const wrong = `${code.slice(0, -1)}${code.endsWith('B') ? 'C' : 'B'}`;
    for (let miss = 0; miss < 3; miss += 1)
      expect((await browser.submit('/auth/code', { code: wrong })).status).toBe(422);
    expect((await browser.submit('/auth/code', { code })).status).toBe(422);
    expect((await browser.submit('/auth/link/use', { token })).status).toBe(410);
  });
});

describe('who asks', () => {
  it('is answered the same for an address that is known and one that is not; only one of them gets a mail', async () => {
    const { email } = await createMember();
    const stranger = `stranger-${(count += 1)}@acme.example`;
    const answers = [];
    for (const one of [stranger, email]) {
      const browser = installation.browser();
      const { status, location, text } = await browser.submit('/auth/link', { email: one });
      const page = await browser.open('/sign-in/mail');
      answers.push({ status, location, text, page: page.text, cookies: [...browser.cookies.keys()] });
    }
    expect(answers[0]).toEqual(answers[1]);
    await installation.link(email);
    expect(await installation.mailsTo(stranger)).toEqual([]);
  });

  it('gets five mails to an address in a quarter of an hour, and no word that there were no more', async () => {
    const { email } = await createMember();
    const browser = installation.browser();
    for (let mail = 1; mail <= 5; mail += 1) {
      await browser.submit('/auth/link', { email });
      await installation.link(email, mail);
    }
    expect(await browser.submit('/auth/link', { email })).toMatchObject({
      status: 303,
      location: '/sign-in/mail',
    });
    expect(await world.rows('select id from sign_in.sign_ins where email = $1', email)).toHaveLength(5);
  });

  it('is not kept out by strangers in other networks, however often those ask for mails', async () => {
    const { email } = await createMember();
    await installation.signIn(email);
    await requestLinksElsewhere(email, 200);
    const kept = () => world.rows('select id from sign_in.sign_ins where email = $1', email);
    const before = (await kept()).length;
    await installation.browser().submit('/auth/link', { email });
    expect(await kept()).toHaveLength(before + 1);
    await world.rows('delete from sign_in.sessions where ip is not null');
    await installation.browser().submit('/auth/link', { email });
    expect(await kept()).toHaveLength(before + 1);
  });

  it('is known in all addresses of an IPv6 network in which there is a session', async () => {
    const { email } = await createMember();
    await installation.signIn(email);
    await world.rows(
      `update sign_in.sessions set ip = '2001:db8:0:1::1' where account_id = (select id from sign_in.accounts where email = $1)`,
      email,
    );
    await requestLinksElsewhere(email, 20);
    const kept = () => world.rows('select id from sign_in.sign_ins where email = $1', email);
    const before = (await kept()).length;
    const visitor = createVisitor(() => installation.signInUrl());
    const askFrom = (address: string) =>
      visitor.submit('/auth/link', { email }, { origin: installation.url(), 'x-forwarded-for': address });
    expect((await askFrom('2001:db8:0:2::2')).status).toBe(303);
    expect(await kept()).toHaveLength(before);
    expect((await askFrom('2001:db8:0:1::2')).status).toBe(303);
    expect(await kept()).toHaveLength(before + 1);
  });

  it('is not kept out by strangers in the same network, in a browser in which they signed in before', async () => {
    const { email } = await createMember();
    const browser = await installation.signIn(email);
    await browser.submit('/auth/sign-out', {});
    for (let mail = 1; mail <= 20; mail += 1) await installation.browser().submit('/auth/link', { email });
    await requestLinksElsewhere(email, 20);
    const kept = () => world.rows('select id from sign_in.sign_ins where email = $1', email);
    const before = (await kept()).length;
    const other = await installation.signIn((await createMember()).email);
    for (const stranger of [installation.browser(), other]) await stranger.submit('/auth/link', { email });
    expect(await kept()).toHaveLength(before);
    for (let mail = 1; mail <= 6; mail += 1) await browser.submit('/auth/link', { email });
    expect(await kept()).toHaveLength(before + 5);
  });

  it('gets no more of them by asking in many browsers at once', async () => {
    const { email } = await createMember();
    const asking = Array.from({ length: 12 }, () => installation.browser().submit('/auth/link', { email }));
    expect(new Set((await Promise.all(asking)).map(({ status }) => status))).toEqual(new Set([303]));
    expect(await world.rows('select id from sign_in.sign_ins where email = $1', email)).toHaveLength(5);
  });

  it('gets twenty mails to an address in a day', async () => {
    const { email } = await createMember();
    const browser = installation.browser();
    const kept = () => world.rows('select id from sign_in.sign_ins where email = $1', email);
    for (let mail = 1; mail <= 20; mail += 1) {
      await browser.submit('/auth/link', { email });
      await world.rows(
        `update sign_in.sign_ins set created_at = now() - interval '16 minutes' where email = $1`,
        email,
      );
    }
    expect(await kept()).toHaveLength(20);
    await browser.submit('/auth/link', { email });
    expect(await kept()).toHaveLength(20);
    await world.rows(
      `update sign_in.sign_ins set created_at = now() - interval '25 hours' where email = $1`,
      email,
    );
    await browser.submit('/auth/link', { email });
    expect(await kept()).toHaveLength(21);
  });

  it('is led to no other site', async () => {
    for (const to of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '/\t/evil.example',
      '/.//evil.example',
      'x',
    ]) {
      const { email } = await createMember();
      const browser = installation.browser();
      await browser.submit('/auth/link', { email, to });
      const { token } = await installation.link(email);
      expect((await browser.submit('/auth/link/use', { token })).location).toBe('/sign-in');
    }
  });

  it('is told of what is no address, with what was typed as text', async () => {
    const { status, text } = await installation
      .browser()
      .submit('/auth/link', { email: '"><script>alert(1)</script>' });
    expect([status, text.includes('<script>alert')]).toEqual([422, false]);
  });
});

it('keeps of links, codes and browsers nothing that lets anybody in', async () => {
  const { email } = await createMember();
  const browser = installation.browser();
  await browser.submit('/auth/link', { email });
  const { token, code } = await installation.link(email);
  const [row] = await world.rows<{ text: string }>(
    'select s::text as text from sign_in.sign_ins s where email = $1',
    email,
  );
  for (const secret of [token, code, code.replace('-', ''), ...browser.cookies.values()])
    expect(row?.text).not.toContain(secret);
});
