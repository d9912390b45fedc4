import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { getLeadStatus } from '../../../data/project-leads.ts';
import {
  findDirectProjectRole,
  lockActiveMember,
  setDirectProjectRole,
} from '../../../data/project-members.ts';
import { toProjectEventSubject, projects } from '../../../data/projects.ts';
import { wouldLoseLastLead, findRulesViolatedByRole } from '../../../rules/project-roles.ts';

export const add = handle(
  boardRegistry.projects.members.add,
  async ({ params, targetId, db, access, emit, refuse }) => {
    const { memberId, role } = params;
    // Roles in a project change only under the project's lock. The facts that are read here therefore stay
    // true until the role is written.
    const [project, member, given, leads, { at }] = await Promise.all([
      projects.lock(db, targetId),
      lockActiveMember(db, memberId),
      findDirectProjectRole(db, targetId, memberId),
      getLeadStatus(db, targetId, { memberId }),
      access(),
    ]);
    const unmet = findRulesViolatedByRole(member.role, role);
    if (unmet.length > 0) throw refuse('policy', { unmet });
    if (role !== 'lead' && wouldLoseLastLead(project.visibility, leads)) throw refuse('lead_required');

    const addedAt = given?.created_at ?? at;
    if (given?.role !== role) {
      db.deferToCommit(setDirectProjectRole(project.id, memberId, { role, created_at: addedAt }));
      emit('project.memberAdded', toProjectEventSubject(project), { memberId, role });
    }
    return { projectMember: { projectId: project.id, memberId, ...member, role, addedAt } };
  },
);
