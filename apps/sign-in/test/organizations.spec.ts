/** One account in several organizations: choosing one, accepting invitations, and creating one. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type People } from '@muster/testing';
import { type VisitedPage, type Browser, useInstallation } from './installation.ts';

const installation = useInstallation({ SIGN_UP: 'open' });
const { world } = installation;

let count = 0;
let people: People;
let email: string;
beforeEach(async () => {
  people = await world.org();
  email = `noor-${(count += 1)}@example.com`;
});

const idIn = (page: string): string => /name="invitation" value="([^"]+)"/.exec(page)?.[1] ?? '';
const joinForm = (orgId: string, invitation: string) => ({ organization: orgId, invitation });
const membersOf = (orgId: string) =>
  world.rows<{ email: string; role: string; name: string }>(
    `select email, role, name from members where org_id = $1 and email like 'noor-%' and status = 'active'`,
    orgId,
  );
/** Inserts an invitation as members.invite does. */
async function invite(to = email, role = 'member', orgId = people.orgId): Promise<string> {
  const id = newId();
  await world.rows(
    `insert into invitations (org_id, id, email, role, invited_by, expires_at)
     values ($1, $2, $3, $4, '{"kind": "member", "name": "Ana <b>", "memberId": null, "agentId": null}', now() + interval '7 days')`,
    ...[orgId, id, to, role],
  );
  return id;
}

describe('an invitation', () => {
  it('leads to signing in, is shown to its address, and is accepted with the account', async () => {
    const invitation = await invite();
    const browser = installation.browser();
    const { status, location } = await browser.open('/invitations/accept');
    expect([status, location]).toEqual([303, '/sign-in/invitations']);
    const asked = await browser.open(location);
    expect(asked.text).toContain('Sign in with the e-mail address it was sent to');
    expect(asked.text).toContain('name="to" value="/sign-in/invitations"');
    await installation.signIn(email, browser);
    const page = await browser.open('/sign-in/invitations');
    expect(page.text).toContain('Ana &#60;b&#62; invited you to join <strong>Acme</strong> as a member.');
    expect(idIn(page.text)).toBe(invitation);
    const joined = await browser.submit('/invitations/join', joinForm(people.orgId, invitation));
    expect([joined.status, joined.location]).toEqual([303, '/sign-in/invitations?joined']);
    expect((await browser.open(joined.location)).text).toContain(
      'You joined the organization. Open it below.',
    );
    // Joining the organization issues no API token. The person uses their session.
    const { body } = await browser.call(people.orgId, 'session.identity');
    expect(body['member']).toMatchObject({ email, role: 'member', name: email.split('@')[0] });
    const tokens = await world.rows<{ kind: string }>(
      `select t.kind from tokens t join members m on m.id = t.member_id where m.email = $1`,
      email,
    );
    expect(tokens).toEqual([{ kind: 'session' }]);
    expect(
      await world.rows(
        `select a.outcome, a.ip, m.email from audit a join members m on m.id = a.member_id
         where a.org_id = $1 and a.operation = 'invitations.accept'`,
        people.orgId,
      ),
    ).toEqual([{ outcome: 'allowed', ip: '127.0.0.1', email }]);
  });

  it('of another address is shown to nobody else, and accepted by nobody else', async () => {
    const invitation = await invite('noor-elsewhere@example.com');
    const browser = await installation.signIn(email);
    expect((await browser.open('/sign-in/invitations')).text).toContain(
      `There is no open invitation for ${email}.`,
    );
    const { location } = await browser.submit('/invitations/join', joinForm(people.orgId, invitation));
    expect(location).toBe('/sign-in/invitations?refused=not_found');
    expect((await browser.open(location)).text).toContain(
      'There is no such invitation for your e-mail address.',
    );
    expect(await membersOf(people.orgId)).toEqual([]);
  });

  it('is accepted by no page of another origin, and by nobody who is not signed in', async () => {
    const invitation = await invite();
    const browser = await installation.signIn(email);
    const form = joinForm(people.orgId, invitation);
    for (const headers of [
      { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': undefined, origin: undefined },
    ])
      expect((await browser.submit('/invitations/join', form, headers)).status).toBe(403);
    const { location } = await installation.browser().submit('/invitations/join', form);
    expect(location).toMatch(/refused=/);
    expect(await membersOf(people.orgId)).toEqual([]);
  });

  it('is accepted by no session that is over', async () => {
    const invitation = await invite();
    const browser = await installation.signIn(email);
    const secret = browser.session();
    await browser.submit('/auth/sign-out', {});
    browser.cookies.set('muster', secret);
    await browser.submit('/invitations/join', joinForm(people.orgId, invitation));
    expect(await membersOf(people.orgId)).toEqual([]);
  });

  const refused: [string, string, (orgId: string, id: string) => string][] = [
    [
      'seats_exhausted',
      'no seats left',
      (org) => `update subscriptions set seats = 1 where org_id = '${org}'`,
    ],
    ['expired', 'has expired', (_, id) => `update invitations set expires_at = now() where id = '${id}'`],
    [
      'already_resolved',
      'was revoked',
      (_, id) => `update invitations set state = 'revoked' where id = '${id}'`,
    ],
    [
      'policy',
      'no longer accepts e-mail addresses',
      (org) => `update orgs set policy = '{"allowedEmailDomains": ["acme.example"]}' where id = '${org}'`,
    ],
  ];
  it.each(refused)('is refused with words: %s', async (reason, words, change) => {
    const invitation = await invite();
    const browser = await installation.signIn(email);
    await world.rows(change(people.orgId, invitation));
    const { location } = await browser.submit('/invitations/join', joinForm(people.orgId, invitation));
    expect(location).toBe(`/sign-in/invitations?refused=${reason}`);
    const page = await browser.open(location);
    expect([page.status, page.text]).toEqual([422, expect.stringContaining(words)]);
    expect(await membersOf(people.orgId)).toEqual([]);
  });

  it('is accepted once, however often its button is pressed at once', async () => {
    const invitation = await invite();
    const browser = await installation.signIn(email);
    const press = () => browser.submit('/invitations/join', joinForm(people.orgId, invitation));
    const answers = await Promise.all([press(), press(), press()]);
    expect(answers.filter(({ location }) => location.endsWith('joined'))).toHaveLength(1);
    expect(await membersOf(people.orgId)).toHaveLength(1);
  });

  it('by its secret, in a terminal, is as good as ever', async () => {
    expect((await installation.browser().open('/invitations/accept?without=account')).text).toContain(
      '<form id="form">',
    );
  });
});

describe('a person', () => {
  it('has one account over several organizations, and acts in each as its member', async () => {
    const other = await world.org();
    for (const { orgId } of [people, other]) {
      await invite(email, 'viewer', orgId);
    }
    const browser = await installation.signIn(email);
    for (const { orgId } of [people, other]) {
      const { text } = await browser.open('/sign-in');
      const form = text.split('<form').find((part) => part.includes(orgId)) ?? '';
      await browser.submit('/invitations/join', joinForm(orgId, idIn(form)));
    }
    const page = await browser.open('/sign-in');
    expect(page.text).toContain('Choose an organization');
    for (const { orgId, slug } of [people, other]) {
      expect(page.text).toContain(slug);
      expect((await browser.call(orgId, 'session.identity')).body['member']).toMatchObject({
        role: 'viewer',
      });
    }
    const accounts = await world.rows('select id from sign_in.accounts where email = $1', email);
    expect(accounts).toHaveLength(1);
  });
});

describe('an organization of one’s own', () => {
  const begin = (browser: Browser, name: string) => browser.submit('/auth/organization', { name });

  it('is begun by whoever signs in, once, and its trail says by whom', async () => {
    const browser = await installation.signIn(email);
    expect((await browser.open('/sign-in')).text).toContain('Create an organization');
    expect(await begin(browser, `Noor’s Café ${count}`)).toMatchObject({ status: 303, location: '/sign-in' });
    const { body } = await browser.open('/auth/session', { 'sec-fetch-site': 'same-origin' });
    const [organization] = body['organizations'] as { id: string; slug: string; role: string }[];
    expect(organization).toMatchObject({ slug: `noor-s-cafe-${count}`, role: 'owner' });
    const orgId = organization?.id ?? '';
    expect((await browser.call(orgId, 'projects.create', { name: 'First', key: 'ONE' })).status).toBe(200);
    const trail = await browser.call(orgId, 'audit.list');
    expect(trail.body['items']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ operation: 'accounts.beginOrganization', ip: '127.0.0.1' }),
      ]),
    );
    const seats = await browser.call(orgId, 'billing.seatUsage');
    expect(seats.body['usage']).toMatchObject({ purchased: 5, used: 1 });
    expect((await begin(browser, 'Another')).text).toContain('You already own an organization.');
    expect((await browser.open('/sign-in')).text).not.toContain('Create an organization');
  });

  it('is one, of two that are begun at once', async () => {
    const browser = await installation.signIn(email);
    const first = await world.database.owner.connect();
    let second: Promise<VisitedPage>;
    try {
      await first.query('begin');
      await first.query(
        `select app.begin_organization(a.id, $2, $3, 'First', $4, 'noor', 5, $5, '{"requestId": "spec"}')
         from sign_in.accounts a where a.email = $1`,
        [email, newId(), newId(), `first-${count}`, newId()],
      );
      second = begin(browser, `Second ${count}`);
      await world.waitUntilBlocked(1);
      await first.query('commit');
    } finally {
      first.release();
    }
    expect((await second).text).toContain('You already own an organization.');
    const { body } = await browser.open('/auth/session', { 'sec-fetch-site': 'same-origin' });
    expect(body['organizations']).toHaveLength(1);
  });

  it('has a slug of its own where another one has that name', async () => {
    const [first, second] = [
      await installation.signIn(email),
      await installation.signIn(`noor-b-${count}@example.com`),
    ];
    const slugs = [];
    for (const browser of [first, second]) {
      await begin(browser, `Same ${count}`);
      const { body } = await browser.open('/auth/session', { 'sec-fetch-site': 'same-origin' });
      slugs.push((body['organizations'] as { slug: string }[])[0]?.slug);
    }
    expect(slugs).toEqual([
      `same-${count}`,
      expect.stringMatching(new RegExp(`^same-${count}-[0-9a-f]{6}$`)),
    ]);
  });

  it('needs a name, a session, and a page of this origin', async () => {
    const browser = await installation.signIn(email);
    for (const name of ['', ' ', 'x'.repeat(121)])
      expect((await begin(browser, name)).text).toContain('Enter a name of 1 to 120 characters.');
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    expect((await browser.submit('/auth/organization', { name: 'X' }, foreign)).status).toBe(403);
    await begin(installation.browser(), 'Of nobody');
    expect(await world.rows(`select id from orgs where name in ('X', 'Of nobody')`)).toEqual([]);
  });
});
