/** Identity providers manage teams by SCIM 2.0, within their organization and what SCIM allows. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type AllHandlers } from '@muster/operations';
import { type People, sendPartialRequest, waitUntil } from '@muster/testing';
import { entra, okta, scimClient, type ScimClient } from './scim.ts';
import { elif, errorOf, noor, tokenOf, useScim } from './scim-world.ts';

const { api, world, createUser, createGroup, activity, membersOf, current } = useScim();

let people: People<AllHandlers>;
let scim: ScimClient;
beforeEach(() => {
  ({ people, scim } = current());
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
    const slow = await api.startReplica({ LIMIT_TOKEN: '2/1000' });
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

  it('has no fault when a client leaves in the middle of a body', async () => {
    const token = await tokenOf(people.ana);
    const errors = async () =>
      (await api.metrics())
        .split('\n')
        .filter((line) => /^muster_errors_total.*"(internal|malformed)/.test(line));
    // A client that leaves before its token is checked is not counted, so several leave.
    await waitUntil(async () => {
      const socket = await sendPartialRequest(api.url(), { path: '/scim/v2/Users', token, sentBody: '{' });
      socket.destroy();
      return (await errors()).length > 0;
    });
    expect(await errors()).toEqual([expect.stringContaining('reason="malformed_request"')]);
  });

  it('answers what it cannot do with an error of SCIM, and never with a 5xx', async () => {
    const id = await createUser();
    const groupId = await createGroup('Web');
    const long = 'x'.repeat(3_000);
    const patch = (...operations: unknown[]) => ({ Operations: operations });
    const cases: [string, string, unknown, number, string | undefined][] = [
      ['GET', 'Users?filter=userName', undefined, 400, 'invalidFilter'],
      ['GET', 'Users?filter=userName%20eq%20%22%00%22', undefined, 400, 'invalidFilter'],
      // The parser would need exponential time for these.
      ['GET', `Users?filter=userName%20eq%20%22${'%0A'.repeat(60)}`, undefined, 400, 'invalidFilter'],
      [
        'PATCH',
        `Groups/${groupId}`,
        patch({ op: 'remove', path: `members[value eq "${'\n'.repeat(60)}]` }),
        400,
        'invalidFilter',
      ],
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
