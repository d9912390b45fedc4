/** Identity providers manage members by SCIM 2.0. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { operations } from '@muster/registry';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person } from '@muster/testing';
import { entra, okta, scimClient, scimType, type ScimClient } from './scim.ts';
import { elif, errorOf, noor, tokenOf, useScim } from './scim-world.ts';

const { api, world, createUser, createGroup, seats, activity, audited, membersOf, current } = useScim();

let people: People<AllHandlers>;
let scim: ScimClient;
beforeEach(() => {
  ({ people, scim } = current());
});

describe('a token of the scope scim', () => {
  it('is created by admins, for themselves, for all projects, and alone', async () => {
    const create = (person: Person<AllHandlers>, more: object) =>
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

  it('are not written by a request whose attributes are invalid', async () => {
    const invalid = '?attributes=active&attributes=id';
    expect(errorOf(await scim.send('POST', `Users${invalid}`, okta.user(elif)))).toEqual([
      400,
      'invalidValue',
    ]);
    expect(await scim.find('Users', `userName eq "${elif.userName}"`)).toEqual([]);
    const id = await createUser();
    for (const [method, body] of [
      ['PUT', { ...okta.user(noor), displayName: 'Changed' }],
      ['PATCH', entra.changeFlattened({ displayName: 'Changed' })],
    ] as const)
      expect((await scim.send(method, `Users/${id}${invalid}`, body)).status).toBe(400);
    expect((await scim.get(`Users/${id}`)).body['displayName']).toBe('Noor Haddad');
    expect((await scim.send('POST', `Groups${invalid}`, okta.group('Web'))).status).toBe(400);
    expect(await scim.find('Groups', 'displayName eq "Web"')).toEqual([]);
    const groupId = await createGroup('Web');
    const renamed = await scim.send('PUT', `Groups/${groupId}${invalid}`, okta.group('Changed'));
    expect(renamed.status).toBe(400);
    expect((await scim.get(`Groups/${groupId}`)).body['displayName']).toBe('Web');
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
    // A repeated deactivation succeeds and changes nothing.
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
    // Otherwise the token could become the owner, or the admin who created it.
    for (const [own, { memberId }] of [
      [scim, people.ana.me],
      [byAdmin, people.ben.me],
    ] as const)
      expect(errorOf(await own.send('PATCH', `Users/${memberId}`, take))).toEqual([403, undefined]);
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
