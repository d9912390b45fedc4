import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getLeads } from '../../../data/project-leads.ts';
import { findGivenRole, lockActiveMember, setGivenRole } from '../../../data/project-members.ts';
import { aboutProject, projects } from '../../../data/projects.ts';
import { losesItsLead, unmetByRole } from '../../../rules/project-roles.ts';

export const add = handle(
  registry.projects.members.add,
  async ({ params, targetId, db, access, emit, refuse }) => {
    const { memberId, role } = params;
    // Roles in a project change only under the project's lock. The facts that are read here therefore stay
    // true until the role is written.
    const [project, member, given, leads, { at }] = await Promise.all([
      projects.lock(db, targetId),
      lockActiveMember(db, memberId),
      findGivenRole(db, targetId, memberId),
      getLeads(db, targetId, { memberId }),
      access(),
    ]);
    const unmet = unmetByRole(member.role, role);
    if (unmet.length > 0) throw refuse('policy', { unmet });
    if (role !== 'lead' && losesItsLead(project.visibility, leads)) throw refuse('lead_required');

    const addedAt = given?.created_at ?? at;
    if (given?.role !== role) {
      db.later(setGivenRole(project.id, memberId, { role, created_at: addedAt }));
      emit('project.memberAdded', aboutProject(project), { memberId, role });
    }
    return { projectMember: { projectId: project.id, memberId, ...member, role, addedAt } };
  },
);
