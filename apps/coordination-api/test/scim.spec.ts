/** Identity providers manage members and teams by SCIM 2.0. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { operations } from '@muster/registry';
import { type People, type Person } from '@muster/testing';
import { useApi } from './api.ts';
import { entra, okta, scimClient, type ScimClient, scimType } from './scim.ts';

const api = useApi();
const { world } = api;

let people: People;
let scim: ScimClient;

const tokenOf = async ({ tokens }: Person): Promise<string> =>
  (await tokens.create({ name: 'Identity provider', scopes: ['scim'] })).secret;

beforeEach(async () => {
  people = await api.org();
  scim = scimClient(api, await tokenOf(people.ana));
});

const noor = {
  userName: 'Noor@example.com',
  givenName: 'Noor',
  familyName: 'Haddad',
  externalId: '00u1-noor',
};
const elif = { userName: 'elif@example.com', givenName: 'Elif', familyName: 'Kaya', externalId: '7a-elif' };

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
const errorOf = (answer: { status: number; headers: Headers; body: Record<string, unknown> }) => {
  expect(answer.headers.get('content-type')).toContain(scimType);
  const { schemas, status, detail } = answer.body;
  expect([schemas, status]).toEqual([['urn:ietf:params:scim:api:messages:2.0:Error'], String(answer.status)]);
  expect(detail).toEqual(expect.stringMatching(/\S/));
  return [answer.status, answer.body['scimType']];
};

describe('a token of the scope scim', () => {
  it('is created by admins, for themselves, for all projects, and alone', async () => {
    const create = (person: Person, more: object) =>
      api.call(person.me.token, 'tokens.create', { name: 'x', scopes: ['scim'], ...more });
    expect((await create(people.ben, {})).status).toBe(200);
    expect((await create(people.chloe, {})).body.details).toMatchObject({ reason: 'role' });
    const agent = await people.ana.agents.create({ name: 'Helper' });
    for (const more of [{ scopes: ['scim', 'read'] }, { agentId: agent.agent.id }, { projectIds: ['WEB'] }])
      expect((await create(people.ana, more)).status).toBe(400);
    const writer = await world.token(people.orgId, people.ana.me.memberId, { scopes: ['write'] });
    expect((await create(writer, {})).body.details).toMatchObject({ reason: 'scope' });
    const bound = await world.token(people.orgId, people.ana.me.memberId, { projectIds: [newId()] });
    expect((await create(bound, {})).body.details).toMatchObject({ reason: 'bound_token' });
  });

  it('is good for SCIM alone, and no other token is', async () => {
    const secret = await tokenOf(people.ana);
    for (const name of [
      'session.identity',
      'members.list',
      'teams.create',
      'tokens.create',
      'members.leave',
    ]) {
      const answer = await api.call(secret, name, operations.get(name)?.example);
      expect([name, answer.status, answer.body.details?.reason]).toEqual([name, 403, 'scope']);
    }
    for (const path of ['/api/events/stream'])
      expect((await api.request(path, { method: 'GET', token: secret })).status).toBe(403);
    for (const token of [people.ana.me.token, people.robo.me.token])
      for (const path of ['Users', 'Groups', 'ServiceProviderConfig', 'Schemas', 'nothing'])
        expect(errorOf(await scimClient(api, token).get(path))).toEqual([403, undefined]);
    for (const token of ['', 'must_live_x']) {
      const answer = await scimClient(api, token).get('Users');
      expect(errorOf(answer)).toEqual([401, undefined]);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it('ends with the next call when it is revoked, or when its admin gets another role', async () => {
    const { secret, token } = await people.ben.tokens.create({ name: 'x', scopes: ['scim'] });
    const own = scimClient(api, secret);
    expect((await own.get('Users')).status).toBe(200);
    await people.ana.members.setRole({ memberId: people.ben.me.memberId, role: 'member' });
    expect(errorOf(await own.get('Users'))).toEqual([403, undefined]);
    await people.ana.tokens.revoke({ tokenId: token.id });
    for (const path of ['Users', 'Schemas', 'Users?startIndex=x', 'Users/x', 'nothing']) {
      // A token whose call succeeded is cached.
      const ending = await people.ana.tokens.create({ name: 'x', scopes: ['scim'] });
      const ended = scimClient(api, ending.secret);
      expect((await ended.get('Users')).status).toBe(200);
      await people.ana.tokens.revoke({ tokenId: ending.token.id });
      expect([path, (await ended.get(path)).status]).toEqual([path, 401]);
    }
  });
});

describe('users', () => {
  it('are members with an address, and are found as Okta and Entra ID look for them', async () => {
    const { status, headers, body } = await scim.send('POST', 'Users', entra.user(noor));
    expect([status, headers.get('content-type')]).toEqual([201, `${scimType}; charset=utf-8`]);
    const id = String(body['id']);
    expect(body).toMatchObject({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      ...{ userName: 'Noor@example.com', externalId: '00u1-noor', displayName: 'Noor Haddad', active: true },
      name: { formatted: 'Noor Haddad', givenName: 'Noor', familyName: 'Haddad' },
      emails: [{ value: 'Noor@example.com', type: 'work', primary: true }],
      meta: { resourceType: 'User', location: headers.get('location') },
    });
    expect(headers.get('location')).toMatch(new RegExp(`^http.*/scim/v2/Users/${id}$`));
    const { member } = await people.ana.members.profile({ memberId: id });
    expect(member).toMatchObject({ email: 'Noor@example.com', name: 'Noor Haddad', role: 'member' });
    expect((await scim.get(`Users/${id}`)).body).toEqual(body);
    for (const filter of [
      'userName eq "noor@EXAMPLE.com"',
      'externalId eq "00u1-noor"',
      'emails[type eq "work" and value eq "noor@example.com"]',
      'emails.value co "noor@" and active eq true',
      'displayName sw "noor" or displayName eq "x"',
      'externalId co "" and displayName co "r h" and userName ew ".com"',
      'name.familyName ew "DAD"',
      `id eq "${id}"`,
      'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "noor@example.com"',
      'not (externalId ne "00u1-noor")',
      'meta.lastModified gt "2020-01-01T00:00:00Z" and externalId pr',
    ])
      expect([filter, await scim.find('Users', filter)]).toEqual([filter, [body]]);
    for (const filter of [
      'externalId eq "00U1-noor"',
      'userName eq "nobody@example.com"',
      'active eq "False"',
    ])
      expect([filter, await scim.find('Users', filter)]).toEqual([filter, []]);
    expect(await activity()).toEqual(['member.added']);
    expect(await audited()).toEqual(['scim.users.create allowed']);
  });

  it('are all members of the organization, in pages with a total', async () => {
    const first = (await scim.get('Users?startIndex=1&count=3')).body;
    expect(first).toMatchObject({ totalResults: 4, startIndex: 1, itemsPerPage: 3 });
    const second = (await scim.get('Users?startIndex=4&count=3')).body;
    const names = [first, second].flatMap(({ Resources }) =>
      (Resources as { displayName: string }[]).map(({ displayName }) => displayName),
    );
    expect(names).toEqual(['Ana', 'Ben', 'Chloé', 'Dan']);
    expect((await scim.get('Users?count=0')).body).toMatchObject({ totalResults: 4, Resources: [] });
    expect((await scim.get('Users?startIndex=-5&count=-1')).body).toMatchObject({
      startIndex: 1,
      Resources: [],
    });
    expect((await scim.get('Users?startIndex=100&count=999')).body).toMatchObject({ totalResults: 4 });
  });

  it('are answered with the attributes that a client asks for', async () => {
    const id = await createUser();
    const some = (await scim.get(`Users/${id}?attributes=userName,name.givenName`)).body;
    expect(some).toEqual({
      schemas: expect.anything(),
      id,
      userName: noor.userName,
      name: { givenName: 'Noor' },
    });
    const others = (await scim.get(`Users/${id}?excludedAttributes=emails,meta,name.formatted`)).body;
    expect(Object.keys(others).toSorted()).toEqual(
      ['active', 'displayName', 'externalId', 'groups', 'id', 'name', 'schemas', 'userName'].toSorted(),
    );
    expect(others['name']).toEqual({ givenName: 'Noor', familyName: 'Haddad' });
    const { Resources: listed } = (await scim.get('Users?attributes=active&count=1')).body;
    expect(listed).toEqual([{ schemas: expect.anything(), id: expect.any(String), active: true }]);
  });

  it('change by PUT and PATCH as Okta and Entra ID send them', async () => {
    const id = await createUser();
    const married = { ...noor, familyName: 'Kaya' };
    const put = await scim.send('PUT', `Users/${id}`, { id, ...okta.user(married) });
    expect([put.status, put.body['displayName']]).toEqual([200, 'Noor Kaya']);
    const patched = await scim.send(
      'PATCH',
      `Users/${id}`,
      entra.changeProfile('Haddad', 'N. Haddad', 'other@example.com'),
    );
    expect(patched.body).toMatchObject({
      ...{ displayName: 'N. Haddad', userName: noor.userName, externalId: noor.externalId },
      name: { givenName: 'Noor', familyName: 'Haddad' },
    });
    const flat = entra.changeFlattened({
      'name.givenName': 'Nour',
      UserName: 'nour@example.com',
      externalId: 'n2',
    });
    expect((await scim.send('PATCH', `Users/${id}`, flat)).body).toMatchObject({
      ...{ userName: 'nour@example.com', externalId: 'n2', displayName: 'Nour Haddad' },
    });
    const removal = { Operations: [{ op: 'remove', path: 'externalId' }] };
    expect((await scim.send('PATCH', `Users/${id}`, removal)).body['externalId']).toBeUndefined();
    expect((await people.ana.members.profile({ memberId: id })).member).toMatchObject({
      ...{ email: 'nour@example.com', name: 'Nour Haddad' },
    });
    expect((await activity()).filter((kind) => kind === 'member.updated')).toHaveLength(4);
    // A repetition changes nothing and leaves no entry.
    const before = await audited();
    await scim.send('PATCH', `Users/${id}`, flat);
    await scim.send('PATCH', `Users/${id}`, flat);
    expect(await audited()).toHaveLength(before.length + 1);
  });

  it('have one address in one organization', async () => {
    const id = await createUser();
    expect(
      errorOf(await scim.send('POST', 'Users', okta.user({ ...elif, userName: 'NOOR@example.com' }))),
    ).toEqual([...[409, 'uniqueness']]);
    expect(
      errorOf(
        await scim.send('PATCH', `Users/${id}`, entra.changeFlattened({ userName: 'ben@example.com' })),
      ),
    ).toEqual([409, 'uniqueness']);
    const created = await Promise.all([1, 2, 3].map(() => scim.send('POST', 'Users', okta.user(elif))));
    expect(created.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    await scim.send('PATCH', `Users/${id}`, okta.setActive(false));
    const [found] = await scim.find('Users', 'userName eq "elif@example.com"');
    const wanted = entra.changeFlattened({ userName: noor.userName });
    const taken = await scim.send('PATCH', `Users/${String(found?.['id'])}`, wanted);
    expect(errorOf(taken)).toEqual([409, 'uniqueness']);
    const theirs = await api.org();
    const other = scimClient(api, await tokenOf(theirs.ana));
    expect((await other.send('POST', 'Users', okta.user(noor))).status).toBe(201);
  });

  it('need a seat, which a pending invitation of theirs gives them', async () => {
    await seats(4);
    const { invitation } = await people.ana.members.invite({ email: 'noor@example.com' });
    expect(errorOf(await scim.send('POST', 'Users', okta.user(elif)))).toEqual([403, undefined]);
    expect((await scim.send('POST', 'Users', okta.user(elif, false))).status).toBe(201);
    const id = await createUser();
    expect((await people.ana.invitations.list()).items).toMatchObject([
      { id: invitation.id, state: 'revoked' },
    ]);
    const refused = await scim.send('POST', 'Users', okta.user({ ...elif, userName: 'x@example.com' }));
    expect([errorOf(refused), refused.body['detail']]).toEqual([
      [403, undefined],
      'All paid seats are in use.',
    ]);
    await scim.send('PATCH', `Users/${id}`, okta.setActive(false));
    const [waiting] = await scim.find('Users', 'userName eq "elif@example.com"');
    expect((await scim.send('PATCH', `Users/${String(waiting?.['id'])}`, okta.setActive(true))).status).toBe(
      200,
    );
    expect(errorOf(await scim.send('PATCH', `Users/${id}`, okta.setActive(true)))).toEqual([403, undefined]);
    expect((await people.ana.billing.seatUsage()).usage.used).toBe(4);
  });

  it('keep to the domains that the policy allows', async () => {
    await world.rows(
      `update orgs set policy = '{"allowedEmailDomains": ["acme.example"]}' where id = $1`,
      people.orgId,
    );
    expect(errorOf(await scim.send('POST', 'Users', okta.user(noor)))).toEqual([403, undefined]);
    expect(
      (await scim.send('POST', 'Users', okta.user({ ...noor, userName: 'noor@acme.example' }))).status,
    ).toBe(201);
  });
});

describe('the end of access', () => {
  it.each([
    ['Okta', okta.setActive(false), okta.setActive(true)],
    ['Entra ID', entra.setActive('False'), entra.setActive('True')],
  ])('comes with the next call by %s, and is not undone for tokens by an activation', async (_, off, on) => {
    const { chloe, robo } = people;
    const id = chloe.me.memberId;
    const ended = async () =>
      Promise.all([chloe, robo].map(async ({ me }) => (await api.call(me.token, 'session.identity')).status));
    expect(await ended()).toEqual([200, 200]);
    const answer = await scim.send('PATCH', `Users/${id}`, off);
    expect([answer.status, answer.body['active']]).toEqual([200, false]);
    expect(await ended()).toEqual([401, 401]);
    expect((await scim.get(`Users/${id}`)).body).toMatchObject({
      active: false,
      userName: 'chloe@example.com',
    });
    expect(await scim.find('Users', 'userName eq "chloe@example.com"')).toMatchObject([
      { id, active: false },
    ]);
    expect((await people.ana.members.list()).items).toHaveLength(3);
    // The same again changes nothing.
    expect((await scim.send('PATCH', `Users/${id}`, off)).status).toBe(200);

    expect((await scim.send('PATCH', `Users/${id}`, on)).body['active']).toBe(true);
    expect(await ended()).toEqual([401, 401]);
    expect((await people.ana.members.profile({ memberId: id })).member.status).toBe('active');
    const fresh = await world.token(people.orgId, id);
    expect((await api.call(fresh.me.token, 'session.identity')).status).toBe(200);
    expect(await activity()).toEqual(['member.removed', 'member.added']);
    expect(await audited()).toEqual(['scim.users.update allowed', 'scim.users.update allowed']);
  });

  it('is for good with DELETE, after which the address is free', async () => {
    const id = await createUser();
    const { me } = await world.token(people.orgId, id);
    const groupId = await createGroup('Web');
    await scim.send('PATCH', `Groups/${groupId}`, entra.addMember(id));
    expect((await scim.send('DELETE', `Users/${id}`)).status).toBe(204);
    expect((await api.call(me.token, 'session.identity')).status).toBe(401);
    for (const method of ['GET', 'DELETE'])
      expect(errorOf(await scim.send(method, `Users/${id}`))).toEqual([404, undefined]);
    expect(await scim.find('Users', 'userName eq "noor@example.com"')).toEqual([]);
    expect(await membersOf(groupId)).toEqual([]);
    const again = await createUser();
    expect(again).not.toBe(id);
    // A user who was deactivated first can be deleted, too.
    await scim.send('PATCH', `Users/${again}`, okta.setActive(false));
    expect((await scim.send('DELETE', `Users/${again}`)).status).toBe(204);
    expect(errorOf(await scim.get(`Users/${again}`))).toEqual([404, undefined]);
  });

  it('does not reach the owner, and admins only by a token of the owner', async () => {
    const byAdmin = scimClient(api, await tokenOf(people.ben));
    const second = await world.member(people.orgId, 'Cem', 'admin');
    for (const own of [scim, byAdmin])
      for (const [method, body] of [
        ['PATCH', okta.setActive(false)],
        ['DELETE', undefined],
      ] as const)
        expect(errorOf(await own.send(method, `Users/${people.ana.me.memberId}`, body))).toEqual([
          403,
          undefined,
        ]);
    const cem = `Users/${second.me.memberId}`;
    // Whoever chooses the address of an admin could sign in as the admin.
    const take = entra.changeFlattened({ userName: 'mine@example.com' });
    for (const body of [okta.setActive(false), take])
      expect(errorOf(await byAdmin.send('PATCH', cem, body))).toEqual([403, undefined]);
    expect(errorOf(await byAdmin.send('PATCH', `Users/${people.ana.me.memberId}`, take))).toEqual([
      403,
      undefined,
    ]);
    expect((await api.call(second.me.token, 'session.identity')).status).toBe(200);
    expect((await scim.send('PATCH', cem, okta.setActive(false))).status).toBe(200);
    expect((await api.call(second.me.token, 'session.identity')).status).toBe(401);
    expect(errorOf(await byAdmin.send('PATCH', cem, okta.setActive(true)))).toEqual([403, undefined]);
    expect((await audited()).filter((entry) => entry.endsWith('denied')).length).toBeGreaterThan(0);
  });

  it('gives way to another member with the address', async () => {
    const { chloe, orgId } = people;
    await scim.send('PATCH', `Users/${chloe.me.memberId}`, okta.setActive(false));
    await world.rows(
      `insert into members (org_id, id, email, name, handle, role) values ($1, $2, 'Chloe@example.com', 'C', 'c2', 'member')`,
      ...[orgId, newId()],
    );
    expect(await scim.find('Users', 'userName eq "chloe@example.com"')).toMatchObject([{ displayName: 'C' }]);
    expect(errorOf(await scim.get(`Users/${chloe.me.memberId}`))).toEqual([404, undefined]);
  });
});

describe('groups', () => {
  it('are teams, and change as Okta pushes them', async () => {
    const id = await createUser();
    const groupId = await createGroup('Web');
    expect((await people.ana.teams.get({ teamId: groupId })).team.name).toBe('Web');
    const path = `Groups/${groupId}`;
    const refOf = (value: string) => ({ value, display: 'x' });
    const { ben, chloe } = people;
    const send = async (body: object) => (await scim.send('PATCH', path, body)).status;
    expect(await send(okta.renameGroup(groupId, 'Web team'))).toBe(204);
    expect(await send(okta.addMembers(refOf(id), refOf(ben.me.memberId)))).toBe(204);
    expect(await send(okta.addMembers(refOf(id)))).toBe(204);
    expect(await membersOf(groupId)).toEqual([id, ben.me.memberId].sort());
    expect(await send(okta.removeMember(ben.me.memberId))).toBe(204);
    expect(await membersOf(groupId)).toEqual([id]);
    expect(await send(okta.replaceMembers(refOf(chloe.me.memberId)))).toBe(204);
    expect(await membersOf(groupId)).toEqual([chloe.me.memberId]);
    const put = await scim.send('PUT', path, { ...okta.group('Web'), members: [refOf(id)] });
    expect(put.body).toMatchObject({ displayName: 'Web', members: [{ value: id, display: 'Noor Haddad' }] });
    expect(await membersOf(groupId)).toEqual([id]);
    expect((await scim.get(`Users/${id}`)).body['groups']).toMatchObject([
      { value: groupId, display: 'Web' },
    ]);
    expect(await activity()).toEqual([
      ...['member.added', 'team.created', 'team.updated', 'team.memberAdded', 'team.memberAdded'],
      ...['team.memberRemoved', 'team.memberAdded', 'team.memberRemoved'],
      ...['team.updated', 'team.memberAdded', 'team.memberRemoved'],
    ]);
    expect((await scim.send('DELETE', path)).status).toBe(204);
    expect(errorOf(await scim.get(path))).toEqual([404, undefined]);
  });

  it('change as Entra ID provisions them', async () => {
    const id = await createUser();
    const { body } = await scim.send('POST', 'Groups', entra.group('Web', 'g-1'));
    const groupId = String(body['id']);
    const send = async (change: object) => (await scim.send('PATCH', `Groups/${groupId}`, change)).status;
    expect(await send(entra.addMember(id))).toBe(204);
    const without = (await scim.get(`Groups/${groupId}?excludedAttributes=members`)).body;
    expect([without['displayName'], without['members']]).toEqual(['Web', undefined]);
    for (const filter of [
      `Id eq "${groupId}" and members eq "${id}"`,
      `members[value eq "${id}"]`,
      'displayName eq "WEB"',
      'externalId eq "g-1"',
    ])
      expect([filter, await scim.find('Groups', filter)]).toEqual([
        filter,
        [expect.objectContaining({ id: groupId })],
      ]);
    expect(await scim.find('Groups', `members eq "${newId()}"`)).toEqual([]);
    expect(await send(entra.removeMember(id))).toBe(204);
    expect(await membersOf(groupId)).toEqual([]);
    expect(await send(entra.addMember(id))).toBe(204);
    expect(await send(entra.removeMemberByPath(id))).toBe(204);
    expect(await membersOf(groupId)).toEqual([]);
    expect(await send({ Operations: [{ op: 'Replace', path: 'displayName', value: 'Site' }] })).toBe(204);
    expect((await scim.get('Groups?count=1&attributes=displayName')).body).toMatchObject({
      totalResults: 1,
      Resources: [{ id: groupId, displayName: 'Site' }],
    });
  });

  it('keep the places of users whose access ended until they return', async () => {
    const { chloe } = people;
    const id = chloe.me.memberId;
    const [web, api2] = [await createGroup('Web'), await createGroup('API')];
    await scim.send('PATCH', `Groups/${web}`, entra.addMember(id));
    await scim.send('PATCH', `Users/${id}`, okta.setActive(false));
    expect((await people.ana.teams.members.list({ teamId: web })).items).toEqual([]);
    expect(await membersOf(web)).toEqual([id]);
    // Meanwhile the identity provider may change the groups of the user.
    await scim.send('PATCH', `Groups/${api2}`, entra.addMember(id));
    expect(await membersOf(api2)).toEqual([id]);
    await scim.send('PUT', `Groups/${api2}`, { ...okta.group('API'), members: [{ value: id }] });
    expect(await membersOf(api2)).toEqual([id]);
    await scim.send('PATCH', `Groups/${web}`, entra.removeMember(id));
    expect(await membersOf(web)).toEqual([]);
    await scim.send('PATCH', `Users/${id}`, okta.setActive(true));
    expect((await people.ana.teams.members.list({ teamId: api2 })).items).toMatchObject([{ memberId: id }]);
    expect((await people.ana.teams.members.list({ teamId: web })).items).toEqual([]);
  });

  it('have a name of their own, and only users as members', async () => {
    const groupId = await createGroup('Web');
    expect(errorOf(await scim.send('POST', 'Groups', okta.group('WEB')))).toEqual([409, 'uniqueness']);
    const theirs = await api.org();
    for (const value of [newId(), theirs.chloe.me.memberId, groupId, 'x'])
      expect(errorOf(await scim.send('PATCH', `Groups/${groupId}`, entra.addMember(value)))).toEqual([
        ...[400, 'invalidValue'],
      ]);
    expect(await membersOf(groupId)).toEqual([]);
  });

  it('take thousands of members at once', async () => {
    const ids = Array.from({ length: 3_000 }, newId);
    await world.rows(
      `insert into members (org_id, id, email, name, handle, role)
         select $1, id, id || '@example.com', 'P', 'p' || row_number() over (), 'viewer' from unnest($2::uuid[]) id`,
      ...[people.orgId, ids],
    );
    const groupId = await createGroup('All');
    const members = ids.map((value) => ({ value, display: 'P' }));
    expect((await scim.send('PATCH', `Groups/${groupId}`, okta.addMembers(...members))).status).toBe(204);
    expect(await membersOf(groupId)).toHaveLength(3_000);
    const tooMany = Array.from({ length: 5_001 }, () => ({ value: newId(), display: 'x' }));
    const refused = await scim.send('PATCH', `Groups/${groupId}`, okta.addMembers(...tooMany));
    expect(errorOf(refused)).toEqual([400, 'invalidValue']);
    expect(refused.body['detail']).toContain('at most 5000 users');
  });
});

describe('another organization', () => {
  it('is out of reach, and nothing says what is in it', async () => {
    const id = await createUser();
    const groupId = await createGroup('Web');
    const theirs = await api.org();
    const other = scimClient(api, await tokenOf(theirs.ana));
    for (const [method, path, body] of [
      ['GET', `Users/${id}`, undefined],
      ['PUT', `Users/${id}`, okta.user(noor)],
      ['PATCH', `Users/${id}`, okta.setActive(false)],
      ['DELETE', `Users/${id}`, undefined],
      ['GET', `Groups/${groupId}`, undefined],
      ['PUT', `Groups/${groupId}`, okta.group('x')],
      ['PATCH', `Groups/${groupId}`, okta.renameGroup(groupId, 'x')],
      ['DELETE', `Groups/${groupId}`, undefined],
    ] as const)
      expect([method, path, ...errorOf(await other.send(method, path, body))]).toEqual([
        method,
        path,
        404,
        undefined,
      ]);
    expect(await other.find('Users', `id eq "${id}"`)).toEqual([]);
    expect(await other.find('Groups', `members eq "${id}"`)).toEqual([]);
    expect((await other.get('Users')).body['totalResults']).toBe(4);
    expect((await scim.get(`Users/${id}`)).body['active']).toBe(true);
  });
});

describe('the service provider', () => {
  it('limits how often a token calls', async () => {
    const slow = await api.copy({ LIMIT_TOKEN: '2/1000' });
    const own = scimClient(slow, await tokenOf(people.ben));
    expect([(await own.get('Users')).status, (await own.get('Schemas')).status]).toEqual([200, 200]);
    const refused = await own.get('Users');
    expect([errorOf(refused), Number(refused.headers.get('retry-after')) > 0]).toEqual([
      [429, undefined],
      true,
    ]);
    await slow.stop();
  });

  it('describes itself', async () => {
    const { body } = await scim.get('ServiceProviderConfig');
    expect(body).toMatchObject({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
      ...{ patch: { supported: true }, bulk: { supported: false }, sort: { supported: false } },
      filter: { supported: true, maxResults: 200 },
    });
    const types = (await scim.get('ResourceTypes')).body;
    expect(types).toMatchObject({
      totalResults: 2,
      Resources: [{ endpoint: '/Users' }, { endpoint: '/Groups' }],
    });
    expect((await scim.get('ResourceTypes/Group')).body).toMatchObject({ name: 'Group' });
    const { Resources } = (await scim.get('Schemas')).body;
    for (const { id } of Resources as { id: string }[]) {
      const schema = (await scim.get(`Schemas/${id}`)).body;
      expect(schema['id']).toBe(id);
      // Every attribute of an answer is in the schema.
      const listed = (schema['attributes'] as { name: string }[]).map(({ name }) => name);
      const path = id.endsWith('User') ? `Users/${await createUser()}` : `Groups/${await createGroup('Web')}`;
      const answered = Object.keys((await scim.get(path)).body);
      expect(answered.filter((name) => !['schemas', 'id', 'meta', ...listed].includes(name))).toEqual([]);
    }
  });

  it('answers what it cannot do with an error of SCIM, and never with a 5xx', async () => {
    const id = await createUser();
    const groupId = await createGroup('Web');
    const long = 'x'.repeat(3_000);
    const patch = (...operations: unknown[]) => ({ Operations: operations });
    const cases: [string, string, unknown, number, string | undefined][] = [
      ['GET', 'Users?filter=userName', undefined, 400, 'invalidFilter'],
      ['GET', 'Users?filter=userName%20eq%20%22%00%22', undefined, 400, 'invalidFilter'],
      ['GET', 'Users?filter=password%20eq%20%22x%22', undefined, 400, 'invalidFilter'],
      ['GET', 'Users?filter=userName%20eq%205', undefined, 400, 'invalidFilter'],
      ['GET', 'Users?filter=constructor%20eq%20%225%22', undefined, 400, 'invalidFilter'],
      ['GET', 'Users?filter=meta.created%20gt%20%22x%22', undefined, 400, 'invalidFilter'],
      ['GET', `Users?filter=${'('.repeat(1_900)}`, undefined, 400, 'invalidFilter'],
      ['GET', `Users?filter=userName%20eq%20%22${long}%22`, undefined, 400, 'invalidFilter'],
      ['GET', `Groups?filter=not%20(members%20eq%20%22${id}%22)`, undefined, 400, 'invalidFilter'],
      ['GET', 'Users?count=x', undefined, 400, 'invalidValue'],
      ['GET', 'Users?count=1&count=2', undefined, 400, 'invalidValue'],
      ['GET', `Users?attributes=${long}`, undefined, 400, 'invalidValue'],
      ['GET', 'Users/x', undefined, 404, undefined],
      ['GET', 'Users/..%2f', undefined, 404, undefined],
      ['GET', 'Me', undefined, 404, undefined],
      ['POST', 'Bulk', {}, 404, undefined],
      ['POST', 'Users', '{', 400, 'invalidSyntax'],
      ['POST', 'Users', '[]', 400, 'invalidSyntax'],
      ['POST', 'Users', '', 400, 'invalidSyntax'],
      ['POST', 'Users', `${'{"a":'.repeat(50)}1${'}'.repeat(50)}`, 400, 'invalidSyntax'],
      ['POST', 'Users', {}, 400, 'invalidValue'],
      ['POST', 'Users', { userName: 'noor' }, 400, 'invalidValue'],
      ['POST', 'Users', { ...okta.user(elif), active: 'perhaps' }, 400, 'invalidValue'],
      ['POST', 'Users', { ...okta.user(elif), externalId: long }, 400, 'invalidValue'],
      ['POST', 'Users', { ...okta.user(elif), displayName: { a: 1 } }, 400, 'invalidValue'],
      ['POST', 'Users', { userName: `x@${'y'.repeat(330)}.example` }, 400, 'invalidValue'],
      ['POST', 'Users', { ...okta.user(elif), nickName: 'x'.repeat(300_000) }, 413, undefined],
      ['POST', 'Groups', {}, 400, 'invalidValue'],
      ['POST', 'Groups', { displayName: 'A', members: 'x' }, 400, 'invalidValue'],
      ['PATCH', `Users/${id}`, {}, 400, 'invalidValue'],
      ['PATCH', `Users/${id}`, { Operations: 'x' }, 400, 'invalidValue'],
      ['PATCH', `Users/${id}`, patch({ op: 'move', path: 'active', value: true }), 400, 'invalidValue'],
      ['PATCH', `Users/${id}`, patch({ op: 'replace', path: 'active', value: {} }), 400, 'invalidValue'],
      ['PATCH', `Users/${id}`, patch({ op: 'replace', path: '[x', value: 1 }), 400, 'invalidPath'],
      ['PATCH', `Users/${id}`, patch({ op: 'replace', path: 'emails[type', value: 1 }), 400, 'invalidPath'],
      [
        'PATCH',
        `Users/${id}`,
        patch({ op: 'replace', path: 'emails[].value', value: 1 }),
        400,
        'invalidFilter',
      ],
      ['PATCH', `Users/${id}`, patch({ op: 'remove' }), 400, 'noTarget'],
      ['PATCH', `Users/${id}`, patch({ op: 'remove', path: 'userName' }), 400, 'invalidValue'],
      ['PATCH', `Users/${id}`, patch({ op: 'replace', value: 'x' }), 400, 'invalidValue'],
      [
        'PATCH',
        `Groups/${groupId}`,
        patch({ op: 'remove', path: 'members[type eq "x"]' }),
        400,
        'invalidFilter',
      ],
      [
        'PATCH',
        `Users/${id}`,
        patch(...Array.from({ length: 1_001 }, () => ({ op: 'add', value: {} }))),
        400,
        'invalidValue',
      ],
    ];
    for (const [method, path, body, status, type] of cases)
      expect([method, path, body, ...errorOf(await scim.send(method, path, body))]).toEqual([
        ...[method, path, body, status, type],
      ]);
    const xml = await scim.send('POST', 'Users', '<user/>', { 'content-type': 'application/xml' });
    expect(errorOf(xml)).toEqual([415, undefined]);
    // Unknown attributes are ignored, whatever they are called.
    const odd = JSON.parse(
      '{"__proto__": {"active": false}, "constructor": 1, "hasOwnProperty": 2}',
    ) as object;
    expect((await scim.send('PUT', `Users/${id}`, odd)).body['active']).toBe(true);
    expect((await scim.send('PATCH', `Users/${id}`, patch({ op: 'add', value: odd }))).status).toBe(200);
  });
});
