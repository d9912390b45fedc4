/**
 * Reads the leads that have the role in a project itself. The caller locks the project, because roles change
 * only under that lock.
 */
import { type Db, type IdOrSql, orgFilter, sql } from '@muster/driver';
import { type LeadStatus } from '../rules/project-roles.ts';

/** The member or the team that is about to lose the role; null for none. */
type LeavingMemberOrTeam = { readonly memberId: string } | { readonly teamId: string } | null;

/**
 * Reads if a project has a lead and if one stays. The check does not apply to members who leave the
 * organization or a team: the organization's admins can still lead the project.
 */
export async function getLeadStatus(
  db: Db,
  projectId: IdOrSql,
  leaving: LeavingMemberOrTeam,
): Promise<LeadStatus> {
  let goes = sql.part`false`;
  if (leaving !== null && 'memberId' in leaving)
    goes = sql.part`l.team_id is null and l.member_id = ${leaving.memberId}::uuid`;
  if (leaving !== null && 'teamId' in leaving)
    goes = sql.part`l.team_id is not distinct from ${leaving.teamId}::uuid`;
  const leads = await db.one(
    sql<{ has_lead: boolean; keeps_lead: boolean }>`with leads as (
         select pm.member_id, null::uuid as team_id from project_members pm
         where ${orgFilter('pm')} and pm.project_id = ${projectId} and pm.role = 'lead'
         union all
         select tm.member_id, tm.team_id from project_teams pt
         join team_members tm on tm.org_id = pt.org_id and tm.team_id = pt.team_id
         where ${orgFilter('pt')} and pt.project_id = ${projectId} and pt.role = 'lead')
       select count(*) > 0 as has_lead, count(*) filter (where not (${goes})) > 0 as keeps_lead
       from leads l
       join members m on ${orgFilter('m')} and m.id = l.member_id and m.status = 'active' and m.role <> 'viewer'`,
  );
  return { hasLead: leads.has_lead, keepsLead: leads.keeps_lead };
}
