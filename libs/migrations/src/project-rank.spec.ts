/** Tests the effective role in a project for every combination of its inputs. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { orgRoles, projectRoles } from '@muster/contract';
import { useWorld } from '@muster/testing';

const world = useWorld({});

const grantableRoles = [null, ...projectRoles] as const;
const cases = orgRoles.flatMap((orgRole) =>
  grantableRoles.flatMap((direct) =>
    grantableRoles.flatMap((team) =>
      (['org', 'private'] as const).flatMap((visibility) =>
        [false, true].map((archived) => ({ orgRole, direct, team, visibility, archived })),
      ),
    ),
  ),
);
type Case = (typeof cases)[number];

/**
 * Returns the expected role: the highest one of the member, as the contract defines it. A viewer of the
 * organization can only read, and an archived project changes no role.
 */
function effectiveRole({ orgRole, direct, team, visibility }: Case): (typeof grantableRoles)[number] {
  if (orgRole === 'owner' || orgRole === 'admin') return 'lead';
  const fromVisibility = visibility === 'private' ? null : orgRole === 'member' ? 'contributor' : 'viewer';
  const roles = [direct, team, fromVisibility];
  const highest = projectRoles.findLast((role) => roles.includes(role)) ?? null;
  return orgRole === 'viewer' && highest !== null ? 'viewer' : highest;
}

describe('app.project_rank', () => {
  it('is the highest of direct membership, teams, owner or admin, and visibility, and no more than viewer for one', async () => {
    const { orgId, ana, ben, chloe, dan } = await world.org();
    const memberOf = { owner: ana, admin: ben, member: chloe, viewer: dan };
    // Each member is in a team of their own, and in a team without a project.
    const teamOf = new Map<string, string>();
    for (const [role, { me }] of Object.entries(memberOf)) {
      for (const name of [role, `${role} idle`]) {
        const teamId = randomUUID();
        await world.rows('insert into teams (org_id, id, name) values ($1, $2, $3)', orgId, teamId, name);
        await world.rows(
          `insert into team_members (org_id, team_id, member_id, role) values ($1, $2, $3, 'lead')`,
          orgId,
          teamId,
          me.memberId,
        );
        teamOf.set(name, teamId);
      }
    }
    const counted: [Case, number | null][] = [];
    for (const [index, one] of cases.entries()) {
      const projectId = randomUUID();
      const { memberId } = memberOf[one.orgRole].me;
      await world.rows(
        `insert into projects (org_id, id, key, name, visibility, origin, archived_at)
         values ($1, $2, $3, 'P', $4, 'hosted', case when $5 then now() end)`,
        orgId,
        projectId,
        `P${index}X`,
        one.visibility,
        one.archived,
      );
      if (one.direct !== null)
        await world.rows(
          'insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, $4)',
          orgId,
          projectId,
          memberId,
          one.direct,
        );
      if (one.team !== null)
        await world.rows(
          'insert into project_teams (org_id, project_id, team_id, role) values ($1, $2, $3, $4)',
          orgId,
          projectId,
          teamOf.get(one.orgRole),
          one.team,
        );
      const [row] = await world.rows<{ rank: number | null; visible: number | null }>(
        `select app.project_rank($1, $2, $3, $4, $5) as rank,
           (select v.project_rank from tokens t, app.visible_projects($1, $4, t.id) v
             where t.org_id = $1 and t.member_id = $4 and t.agent_id is null and v.project_id = $2) as visible`,
        orgId,
        projectId,
        one.visibility,
        memberId,
        one.orgRole,
      );
      // The list of projects and the authorization check follow one rule.
      expect(row?.visible).toBe(row?.rank);
      counted.push([one, row?.rank ?? null]);
    }
    expect(counted).toHaveLength(256);
    const expected = cases.map((one): [Case, number | null] => {
      const role = effectiveRole(one);
      return [one, role === null ? null : projectRoles.indexOf(role) + 1];
    });
    expect(counted).toEqual(expected);
  });

  it('takes the best of several teams, and nothing from one that somebody else is in', async () => {
    const { orgId, chloe, dan } = await world.org();
    const projectId = randomUUID();
    await world.rows(
      `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'P', 'private', 'hosted')`,
      orgId,
      projectId,
    );
    for (const [name, role, member] of [
      ['A', 'viewer', chloe],
      ['B', 'contributor', chloe],
      ['C', 'lead', dan],
    ] as const) {
      const teamId = randomUUID();
      await world.rows('insert into teams (org_id, id, name) values ($1, $2, $3)', orgId, teamId, name);
      await world.rows(
        `insert into team_members (org_id, team_id, member_id, role) values ($1, $2, $3, 'member')`,
        orgId,
        teamId,
        member.me.memberId,
      );
      await world.rows(
        'insert into project_teams (org_id, project_id, team_id, role) values ($1, $2, $3, $4)',
        orgId,
        projectId,
        teamId,
        role,
      );
    }
    const rank = `select app.project_rank($1, $2, 'private', $3, $4) as rank`;
    expect(await world.rows(rank, orgId, projectId, chloe.me.memberId, 'member')).toEqual([{ rank: 2 }]);
    expect(await world.rows(rank, orgId, projectId, dan.me.memberId, 'viewer')).toEqual([{ rank: 1 }]);
    // Dan has a seat now, so his rank in the project rises although none of his rows in project or team
    // changed.
    expect(await world.rows(rank, orgId, projectId, dan.me.memberId, 'member')).toEqual([{ rank: 3 }]);
  });
});
