/** An API with an organization whose identity provider calls by SCIM. */
import { beforeEach, expect } from '@jest/globals';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person } from '@muster/testing';
import { useApi } from './api.ts';
import { okta, scimClient, type ScimClient, scimType } from './scim.ts';

export const noor = {
  userName: 'Noor@example.com',
  givenName: 'Noor',
  familyName: 'Haddad',
  externalId: '00u1-noor',
};
export const elif = {
  userName: 'elif@example.com',
  givenName: 'Elif',
  familyName: 'Kaya',
  externalId: '7a-elif',
};

export const tokenOf = async ({ tokens }: Person<AllHandlers>): Promise<string> =>
  (await tokens.create({ name: 'Identity provider', scopes: ['scim'] })).secret;

export const errorOf = (answer: { status: number; headers: Headers; body: Record<string, unknown> }) => {
  expect(answer.headers.get('content-type')).toContain(scimType);
  const { schemas, status, detail } = answer.body;
  expect([schemas, status]).toEqual([['urn:ietf:params:scim:api:messages:2.0:Error'], String(answer.status)]);
  expect(detail).toEqual(expect.stringMatching(/\S/));
  return [answer.status, answer.body['scimType']];
};

/** Starts the API for the spec file that calls it. Each test gets an organization of its own. */
export function useScim() {
  const api = useApi();
  const { world } = api;
  let people: People<AllHandlers>;
  let scim: ScimClient;

  beforeEach(async () => {
    people = await api.org();
    scim = scimClient(api, await tokenOf(people.ana));
  });

  async function createUser(person = noor): Promise<string> {
    const { status, body } = await scim.send('POST', 'Users', okta.user(person));
    expect([status, body['detail']]).toEqual([201, undefined]);
    return String(body['id']);
  }
  async function createGroup(name: string): Promise<string> {
    const { status, body } = await scim.send('POST', 'Groups', okta.group(name));
    expect(status).toBe(201);
    return String(body['id']);
  }
  const seats = (count: number) =>
    world.rows('update subscriptions set seats = $2 where org_id = $1', people.orgId, count);
  const activity = async () =>
    (
      await world.rows<{ kind: string }>(
        'select kind from activity where org_id = $1 order by seq',
        people.orgId,
      )
    ).map(({ kind }) => kind);
  const audited = async () =>
    (
      await world.rows<{ entry: string }>(
        `select operation || ' ' || outcome as entry from audit where org_id = $1 and operation like 'scim.%' order by seq`,
        people.orgId,
      )
    ).map(({ entry }) => entry);
  const membersOf = async (groupId: string): Promise<string[]> => {
    const { body } = await scim.get(`Groups/${groupId}`);
    return ((body['members'] ?? []) as { value: string }[]).map(({ value }) => value).sort();
  };

  return {
    ...{ api, world, createUser, createGroup, seats, activity, audited, membersOf },
    /** Returns the people and the client of the current test. */
    current: () => ({ people, scim }),
  };
}
