import { boardRegistry } from '@muster/board-registry';
import { handle, notFound } from '@muster/runtime';
import { getLeadStatus } from '../../data/project-leads.ts';
import { deleteTeamRole, findTeamRole } from '../../data/project-teams.ts';
import { toProjectEventSubject, projects } from '../../data/projects.ts';
import { wouldLoseLastLead } from '../../rules/project-roles.ts';

export const unassignTeam = handle(
  boardRegistry.projects.unassignTeam,
  async ({ params, targetId, db, emit, refuse }) => {
    const { teamId } = params;
    const [project, given, leads] = await Promise.all([
      projects.lock(db, targetId),
      findTeamRole(db, targetId, teamId),
      getLeadStatus(db, targetId, { teamId }),
    ]);
    if (given === undefined) throw notFound();
    if (wouldLoseLastLead(project.visibility, leads)) throw refuse('lead_required');

    db.deferToCommit(deleteTeamRole(project.id, teamId));
    emit('project.teamUnassigned', toProjectEventSubject(project), { teamId });
    return { deleted: true as const };
  },
);
