import { registry } from '@muster/registry';
import { handle, notFound } from '@muster/runtime';
import { getLeads } from '../../../data/project-leads.ts';
import { deleteGivenRole, findGivenRole } from '../../../data/project-members.ts';
import { aboutProject, projects } from '../../../data/projects.ts';
import { losesItsLead } from '../../../rules/project-roles.ts';

export const remove = handle(
  registry.projects.members.remove,
  async ({ params, targetId, db, emit, refuse }) => {
    const { memberId } = params;
    const [project, given, leads] = await Promise.all([
      projects.lock(db, targetId),
      findGivenRole(db, targetId, memberId),
      getLeads(db, targetId, { memberId }),
    ]);
    if (given === undefined) throw notFound();
    if (losesItsLead(project.visibility, leads)) throw refuse('lead_required');

    db.later(deleteGivenRole(project.id, memberId));
    emit('project.memberRemoved', aboutProject(project), { memberId });
    return { deleted: true as const };
  },
);
