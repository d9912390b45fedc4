import { boardRegistry } from '@muster/board-registry';
import { handle, notFound } from '@muster/runtime';
import { getLeadStatus } from '../../../data/project-leads.ts';
import { deleteDirectProjectRole, findDirectProjectRole } from '../../../data/project-members.ts';
import { toProjectEventSubject, projects } from '../../../data/projects.ts';
import { wouldLoseLastLead } from '../../../rules/project-roles.ts';

export const remove = handle(
  boardRegistry.projects.members.remove,
  async ({ params, targetId, db, emit, refuse }) => {
    const { memberId } = params;
    const [project, given, leads] = await Promise.all([
      projects.lock(db, targetId),
      findDirectProjectRole(db, targetId, memberId),
      getLeadStatus(db, targetId, { memberId }),
    ]);
    if (given === undefined) throw notFound();
    if (wouldLoseLastLead(project.visibility, leads)) throw refuse('lead_required');

    db.deferToCommit(deleteDirectProjectRole(project.id, memberId));
    emit('project.memberRemoved', toProjectEventSubject(project), { memberId });
    return { deleted: true as const };
  },
);
