/** A person whom an identity provider manages by SCIM signs in, and their access ends. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type People } from '@muster/testing';
import { type Browser, useInstallation } from './installation.ts';

const installation = useInstallation();
const { world } = installation;

let people: People;
let token: string;
beforeEach(async () => {
  people = await world.org();
  ({ token } = (await world.token(people.orgId, people.ana.me.memberId, { scopes: ['scim'] })).me);
});

async function scim(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${installation.url()}/scim/v2/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(answer.ok).toBe(true);
  const text = await answer.text();
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

const setUser = (id: string, value: object) =>
  scim('PATCH', `Users/${id}`, { Operations: [{ op: 'replace', value }] });
const createUser = async (userName: string): Promise<string> =>
  String((await scim('POST', 'Users', { userName, displayName: 'Noor', externalId: 'n-1' }))['id']);
const whoIs = async (browser: Browser) => {
  const { status, text } = await browser.call(people.orgId, 'session.identity');
  return status === 200 ? (JSON.parse(text) as { member: { id: string } }).member.id : status;
};
const addressOf = (name: string) => `${name}-${newId().slice(-8)}@example.com`;

describe('a user of SCIM', () => {
  it('signs in, loses access with the next call, and signs in again after the activation', async () => {
    const email = addressOf('noor');
    const id = await createUser(email);
    const browser = await installation.signIn(email);
    expect(await whoIs(browser)).toBe(id);
    await setUser(id, { active: false });
    expect(await whoIs(browser)).toBe(401);
    // The session and its token stay ended; only another sign-in opens the organization.
    await setUser(id, { active: true });
    expect(await whoIs(browser)).toBe(401);
    await installation.signIn(email, browser);
    expect(await whoIs(browser)).toBe(id);
    await scim('DELETE', `Users/${id}`);
    expect(await whoIs(browser)).toBe(401);
  });

  it('stays signed in elsewhere', async () => {
    const other = await world.org();
    const email = addressOf('noor');
    const id = await createUser(email);
    await world.rows(
      `insert into members (org_id, id, email, name, handle, role) values ($1, $2, $3, 'Noor', 'noor', 'member')`,
      ...[other.orgId, newId(), email],
    );
    const browser = await installation.signIn(email);
    expect(await whoIs(browser)).toBe(id);
    await setUser(id, { active: false });
    expect((await browser.call(other.orgId, 'session.identity')).status).toBe(200);
  });

  it('is whoever proves the address that the identity provider set last', async () => {
    const [earlier, later] = [addressOf('noor'), addressOf('nour')];
    const id = await createUser(earlier);
    const before = await installation.signIn(earlier);
    expect(await whoIs(before)).toBe(id);
    await setUser(id, { userName: later });
    // The sessions and tokens of the earlier account last until the person of the new address comes.
    expect(await whoIs(before)).toBe(id);
    const { me } = await world.token(people.orgId, id);
    const isAccepted = async (): Promise<boolean> =>
      (
        await fetch(`${installation.url()}/api/session/identity`, {
          ...{ method: 'POST', body: '{}' },
          headers: { authorization: `Bearer ${me.token}`, 'content-type': 'application/json' },
        })
      ).ok;
    expect(await isAccepted()).toBe(true);
    const after = await installation.signIn(later);
    expect(await whoIs(after)).toBe(id);
    expect(await whoIs(before)).toBe(401);
    expect(await isAccepted()).toBe(false);
    expect(await whoIs(await installation.signIn(earlier))).toBe(401);
  });
});
