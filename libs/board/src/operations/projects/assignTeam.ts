import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getLeads } from '../../data/project-leads.ts';
import { findTeamRole, lockTeam, setTeamRole } from '../../data/project-teams.ts';
import { aboutProject, projects } from '../../data/projects.ts';
import { losesItsLead } from '../../rules/project-roles.ts';

export const assignTeam = handle(
  registry.projects.assignTeam,
  async ({ params, targetId, db, access, emit, refuse }) => {
    const { teamId, role } = params;
    const [project, team, given, leads, { at }] = await Promise.all([
      projects.lock(db, targetId),
      lockTeam(db, teamId),
      findTeamRole(db, targetId, teamId),
      getLeads(db, targetId, { teamId }),
      access(),
    ]);
    if (role !== 'lead' && losesItsLead(project.visibility, leads)) throw refuse('lead_required');

    const assignedAt = given?.created_at ?? at;
    if (given?.role !== role) {
      db.later(setTeamRole(project.id, teamId, { role, created_at: assignedAt }));
      emit('project.teamAssigned', aboutProject(project), { teamId, role });
    }
    return { projectTeam: { projectId: project.id, teamId, name: team.name, role, assignedAt } };
  },
);
