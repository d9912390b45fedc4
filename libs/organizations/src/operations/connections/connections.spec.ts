import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { hashToken, newTokenSecret } from '@muster/runtime';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeProject } from '../../../test/work.ts';
import { organizationsHandlers } from '../../index.ts';

const world = useWorld(organizationsHandlers);
let people: PeopleOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
});

/**
 * Creates a connection through which a program acts as an agent of the person. Returns its id and the secret
 * of its token.
 */
async function connect(
  { me }: PersonOf<typeof world>,
  {
    name = 'Claude Code',
    projectIds = null,
    days = 30,
  }: { name?: string; projectIds?: string[] | null; days?: number } = {},
): Promise<{ id: string; secret: string }> {
  const [id, agentId, secret] = [newId(), newId(), newTokenSecret()];
  const { orgId } = people;
  await world.rows(
    `insert into agents (org_id, id, member_id, name) values ($1, $2, $3, $4)`,
    ...[orgId, agentId, me.memberId, `${name} ${id}`],
  );
  await world.rows(
    `insert into connections (org_id, id, member_id, agent_id, client_id, client_name, client_host, resource, scopes, project_ids,
       created_at, expires_at)
     values ($1, $2, $3, $4, 'https://a.example/c.json', $5, 'a.example', 'https://m.example/api/mcp', '{write}', $6,
       now() - interval '1 day', now() - interval '1 day' + make_interval(days => $7))`,
    ...[orgId, id, me.memberId, agentId, name, projectIds, days],
  );
  await world.rows(
    'select app.give_connection_token($1, $2, $3, $4, $5, $6, 60)',
    id,
    newId(),
    ...[hashToken(secret), secret.slice(0, 14), secret.slice(-4), ['write']],
  );
  return { id, secret };
}
const isAlive = async (secret: string): Promise<boolean> => {
  const rows = await world.rows(
    'select id from tokens where hash = $1 and revoked_at is null and expires_at > now()',
    hashToken(secret),
  );
  return rows.length === 1;
};

describe('connections.list', () => {
  it("shows one's own, newest first, page by page", async () => {
    const { chloe, ben } = people;
    const first = await connect(chloe, { name: 'First' });
    const second = await connect(chloe, { name: 'Second' });
    await connect(ben);
    const page = await chloe.connections.list({ memberId: chloe.me.memberId, limit: 1 });
    expect(page.items).toEqual([
      {
        ...{ id: second.id, client: { name: 'Second', host: 'a.example' }, memberId: chloe.me.memberId },
        agent: { id: expect.any(String), name: `Second ${second.id}` },
        ...{ projectIds: null, scopes: ['write'], lastUsedAt: null, revokedAt: null },
        ...{ createdAt: expect.any(String), expiresAt: expect.any(String) },
      },
    ]);
    const rest = await chloe.connections.list({ limit: 1, cursor: page.nextCursor ?? '' });
    expect([rest.items.map(({ id }) => id), rest.nextCursor]).toEqual([[first.id], null]);
  });

  it('says when its tokens were last used', async () => {
    const { chloe } = people;
    const { id } = await connect(chloe);
    await world.rows(`update tokens set last_used_at = '2026-01-02T03:04:00Z' where grant_id = $1`, id);
    expect((await chloe.connections.list({})).items).toMatchObject([
      { lastUsedAt: '2026-01-02T03:04:00.000Z' },
    ]);
  });

  it('leaves out those that ended, unless they are asked for', async () => {
    const { chloe } = people;
    const revoked = await connect(chloe);
    const expired = await connect(chloe, { days: 1 });
    await chloe.connections.revoke({ connectionId: revoked.id });
    expect((await chloe.connections.list({})).items).toEqual([]);
    const all = await chloe.connections.list({ includeEnded: true });
    expect(all.items.map(({ id }) => id)).toEqual([expired.id, revoked.id]);
  });

  it('shows all to admins with that scope, to others only their own, and nothing of another organization', async () => {
    const { orgId, ana, ben, chloe, dan } = people;
    const { id } = await connect(dan);
    const ids = async (person: PersonOf<typeof world>) =>
      (await person.connections.list({})).items.map((one) => one.id);
    expect([await ids(ana), await ids(ben), await ids(chloe), await ids(dan)]).toEqual([
      [id],
      [id],
      [],
      [id],
    ]);
    await expect(chloe.connections.list({ memberId: dan.me.memberId })).rejects.toMatchObject({
      status: 403,
    });
    const writer = await world.token(orgId, ben.me.memberId, { scopes: ['write'] });
    expect(await ids(writer)).toEqual([]);
    expect(await ids((await world.org()).ana)).toEqual([]);
  });

  it('shows by a token that is bound to projects those alone that are bound to them', async () => {
    const { orgId, chloe } = people;
    const [web, docs] = [
      await arrangeProject(world, orgId, 'WEB'),
      await arrangeProject(world, orgId, 'DOCS'),
    ];
    const bound = await connect(chloe, { projectIds: [web] });
    const other = await connect(chloe, { projectIds: [docs] });
    await connect(chloe);
    const narrow = await world.token(orgId, chloe.me.memberId, { projectIds: [web] });
    expect((await narrow.connections.list({})).items.map(({ id }) => id)).toEqual([bound.id]);
    await expect(narrow.connections.revoke({ connectionId: other.id })).rejects.toMatchObject({
      status: 404,
    });
  });
});

describe('connections.revoke', () => {
  it('ends its tokens in the same breath, and those of no other', async () => {
    const { chloe } = people;
    const [one, other] = [await connect(chloe), await connect(chloe, { name: 'Other' })];
    const { connection } = await chloe.connections.revoke({ connectionId: one.id });
    expect(connection).toMatchObject({ id: one.id, revokedAt: expect.any(String) });
    expect([await isAlive(one.secret), await isAlive(other.secret)]).toEqual([false, true]);
    expect(await chloe.connections.revoke({ connectionId: one.id })).toEqual({ connection });
  });

  it('gives no token any more, though one is asked for at the same time', async () => {
    const { chloe } = people;
    const { id } = await connect(chloe);
    await chloe.connections.revoke({ connectionId: id });
    const [row] = await world.rows<{ ends: string | null }>(
      `select app.give_connection_token($1, $2, $3, 'x', 'y', '{write}', 60) as ends`,
      ...[id, newId(), hashToken('later')],
    );
    expect(row).toEqual({ ends: null });
  });

  it("ends one's own, an admin any of the organization, and nobody one of another", async () => {
    const { ana, chloe, dan } = people;
    const { id } = await connect(dan);
    await expect(chloe.connections.revoke({ connectionId: id })).rejects.toMatchObject({ status: 404 });
    const stranger = (await world.org()).ana;
    await expect(stranger.connections.revoke({ connectionId: id })).rejects.toMatchObject({ status: 404 });
    expect((await ana.connections.revoke({ connectionId: id })).connection.revokedAt).not.toBeNull();
  });

  it('is not for agents', async () => {
    const { id } = await connect(people.chloe);
    const { robo } = people;
    const refused = { status: 403, body: { details: { reason: 'agents_may_not' } } };
    await expect(robo.connections.revoke({ connectionId: id })).rejects.toMatchObject(refused);
    await expect(robo.connections.list({})).rejects.toMatchObject(refused);
  });
});
