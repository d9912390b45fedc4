import { registry } from '@muster/registry';
import { handle, notFound } from '@muster/runtime';
import { getLeads } from '../../../data/project-leads.ts';
import { deleteGivenRole, findGivenRole } from '../../../data/project-members.ts';
import { aboutProject, lockProject } from '../../../data/projects.ts';
import { losesItsLead } from '../../../rules/project-roles.ts';

export const remove = handle(registry.projects.members.remove, async ({ params, db, emit, refuse }) => {
  const { projectId, memberId } = params;
  const [project, given, leads] = await Promise.all([
    lockProject(db, projectId),
    findGivenRole(db, projectId, memberId),
    getLeads(db, projectId, { memberId }),
  ]);
  if (given === undefined) throw notFound();
  if (losesItsLead(project.visibility, leads)) throw refuse('lead_required');

  db.later(deleteGivenRole(project.id, memberId));
  emit('project.memberRemoved', aboutProject(project), { memberId });
  return { deleted: true as const };
});
