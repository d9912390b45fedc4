import { registry } from '@muster/registry';
import { handle, notFound } from '@muster/runtime';
import { getLeads } from '../../data/project-leads.ts';
import { deleteTeamRole, findTeamRole } from '../../data/project-teams.ts';
import { aboutProject, projects } from '../../data/projects.ts';
import { losesItsLead } from '../../rules/project-roles.ts';

export const unassignTeam = handle(
  registry.projects.unassignTeam,
  async ({ params, targetId, db, emit, refuse }) => {
    const { teamId } = params;
    const [project, given, leads] = await Promise.all([
      projects.lock(db, targetId),
      findTeamRole(db, targetId, teamId),
      getLeads(db, targetId, { teamId }),
    ]);
    if (given === undefined) throw notFound();
    if (losesItsLead(project.visibility, leads)) throw refuse('lead_required');

    db.later(deleteTeamRole(project.id, teamId));
    emit('project.teamUnassigned', aboutProject(project), { teamId });
    return { deleted: true as const };
  },
);
