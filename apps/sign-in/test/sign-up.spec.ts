/**
 * People without a membership who may sign in if SIGN_UP is `invited` (invited people only) or `closed` (no
 * one).
 */
import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { useInstallation } from './installation.ts';

describe.each(['invited', 'closed'] as const)('an installation that is %s', (signUp) => {
  const installation = useInstallation({ SIGN_UP: signUp });
  const { world } = installation;

  it('begins no organization, whatever is sent', async () => {
    const { orgId, chloe } = await world.org();
    const email = 'chloe@up.example';
    await world.rows(
      'update members set email = $3 where org_id = $1 and id = $2',
      ...[orgId, chloe.me.memberId, email],
    );
    const browser = await installation.signIn(email);
    expect((await browser.open('/sign-in')).text).not.toContain('Create an organization');
    await browser.submit('/auth/organization', { name: 'Mine' });
    expect(await world.rows(`select id from orgs where name = 'Mine'`)).toEqual([]);
  });

  it(`mails ${signUp === 'invited' ? 'those who are invited' : 'no one'} a link who is no member`, async () => {
    const { orgId } = await world.org();
    const [invited, stranger, member] = ['invited@up.example', 'stranger@up.example', 'dan@up.example'];
    await world.rows(
      `insert into invitations (org_id, id, email, role, invited_by, expires_at)
       values ($1, $2, $3, 'member', '{"kind": "member", "name": "Ana"}', now() + interval '7 days')`,
      ...[orgId, newId(), invited],
    );
    await world.rows(`update members set email = $2 where org_id = $1 and name = 'Dan'`, orgId, member);
    for (const email of [stranger, invited, member])
      await installation.browser().submit('/auth/link', { email });
    // The member's e-mail was requested last, so the other e-mails would have arrived before it.
    await installation.link(member);
    if (signUp === 'invited') await installation.link(invited);
    const counts = await Promise.all([stranger, invited].map((email) => installation.mailsTo(email)));
    expect(counts.map(({ length }) => length)).toEqual([0, signUp === 'invited' ? 1 : 0]);
  });

  it('leads from an invitation to where it is accepted', async () => {
    const browser = installation.browser();
    const { location } = await browser.open('/invitations/accept');
    const page = await browser.open(location);
    expect([page.status, page.location]).toEqual(
      signUp === 'closed' ? [303, '/invitations/accept?without=account'] : [200, ''],
    );
  });
});
