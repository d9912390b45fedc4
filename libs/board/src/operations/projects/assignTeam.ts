import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { getLeadStatus } from '../../data/project-leads.ts';
import { findTeamRole, lockTeam, setTeamRole } from '../../data/project-teams.ts';
import { toProjectEventSubject, projects } from '../../data/projects.ts';
import { wouldLoseLastLead } from '../../rules/project-roles.ts';

export const assignTeam = handle(
  boardRegistry.projects.assignTeam,
  async ({ params, targetId, db, access, emit, refuse }) => {
    const { teamId, role } = params;
    const [project, team, given, leads, { at }] = await Promise.all([
      projects.lock(db, targetId),
      lockTeam(db, teamId),
      findTeamRole(db, targetId, teamId),
      getLeadStatus(db, targetId, { teamId }),
      access(),
    ]);
    if (role !== 'lead' && wouldLoseLastLead(project.visibility, leads)) throw refuse('lead_required');

    const assignedAt = given?.created_at ?? at;
    if (given?.role !== role) {
      db.deferToCommit(setTeamRole(project.id, teamId, { role, created_at: assignedAt }));
      emit('project.teamAssigned', toProjectEventSubject(project), { teamId, role });
    }
    return { projectTeam: { projectId: project.id, teamId, name: team.name, role, assignedAt } };
  },
);
