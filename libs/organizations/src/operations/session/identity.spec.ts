import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { organizationsRegistry } from '@muster/organizations-registry';
import { useWorld } from '@muster/testing';
import { session } from './handlers.ts';

const world = useWorld({ session });

describe('session.identity', () => {
  it('tells an agent its own name beside that of its member', async () => {
    const { robo } = await world.org();
    const { agent, token, member } = await robo.session.identity();
    expect([agent, member.name]).toEqual([{ id: token.agentId, name: 'Robo' }, 'Chloé']);
  });

  it('says who the token is, down to the teams and the plan', async () => {
    const { ana, chloe, orgId, slug } = await world.org({ plan: 'team' });
    const teams = [
      ['Web', 'lead'],
      ['App', 'member'],
    ] as const;
    for (const [name, role] of teams) {
      const id = newId();
      await world.rows('insert into teams (org_id, id, name) values ($1, $2, $3)', orgId, id, name);
      await world.rows(
        'insert into team_members (org_id, team_id, member_id, role) values ($1, $2, $3, $4)',
        orgId,
        id,
        chloe.me.memberId,
        role,
      );
    }
    const me = await chloe.session.identity();
    expect(organizationsRegistry.session.identity.result.parse(me)).toEqual(me);
    expect(me).toMatchObject({
      member: { id: chloe.me.memberId, name: 'Chloé', handle: 'chloe', role: 'member' },
      agent: null,
      org: { id: orgId, slug, name: 'Acme' },
      token: { name: 'spec', scopes: ['admin'], agentId: null },
      teams: [
        { name: 'App', role: 'member' },
        { name: 'Web', role: 'lead' },
      ],
      entitlement: { plan: 'team', limits: { seats: 25, projects: 500 }, usage: { seats: 3, projects: 0 } },
      apiVersion: '1.0.0',
    });
    expect((await ana.session.identity()).teams).toEqual([]);
  });

  it("says for an agent's token whose agent it is", async () => {
    const { chloe, robo } = await world.org();
    const me = await robo.session.identity();
    expect(me.member.id).toBe(chloe.me.memberId);
    expect(me.token.agentId).toBe(robo.me.agentId);
  });

  it('goes by the clock of the database', async () => {
    const { dan } = await world.org();
    const [before] = await world.rows<{ now: string }>(
      `select date_trunc('milliseconds', clock_timestamp()) as now`,
    );
    const { serverTime } = await dan.session.identity();
    expect(serverTime >= (before?.now ?? '')).toBe(true);
  });

  it('counts archived projects as used, and removed members as gone', async () => {
    const { ben, ana, orgId } = await world.org();
    await world.rows(
      `insert into projects (org_id, id, key, name, visibility, origin, archived_at) values ($1, $2, 'OLD', 'Old', 'org', 'hosted', now())`,
      orgId,
      newId(),
    );
    await world.rows(
      `update members set status = 'removed' where org_id = $1 and id = $2`,
      orgId,
      ben.me.memberId,
    );
    expect((await ana.session.identity()).entitlement.usage).toMatchObject({ seats: 2, projects: 1 });
    await expect(ben.session.identity()).rejects.toMatchObject({ status: 401 });
  });

  it('takes no parameters', async () => {
    const { ana } = await world.org();
    const typo = JSON.parse('{"verbose": true}') as Record<string, never>;
    await expect(ana.session.identity(typo)).rejects.toMatchObject({ status: 400 });
  });
});
