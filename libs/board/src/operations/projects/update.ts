import { requireVersion } from '@muster/driver';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { getLeadStatus } from '../../data/project-leads.ts';
import { setDirectProjectRole } from '../../data/project-members.ts';
import { toProjectEventSubject, blockProjectWrites, projects, toProject } from '../../data/projects.ts';

export const update = handle(
  boardRegistry.projects.update,
  async ({ params, targetId, caller, db, access, projectRank, emit, refuse }) => {
    const { projectId: _target, archived, expectedVersion, ...given } = params;
    const { memberId } = caller;
    const [{ at }, , rank, project, leads] = await Promise.all([
      access(),
      archived === undefined ? undefined : db.find(blockProjectWrites()),
      projectRank(),
      projects.lock(db, targetId),
      given.visibility === 'private' ? getLeadStatus(db, targetId, null) : undefined,
    ]);
    requireVersion(project, expectedVersion);
    const isArchived = project.archived_at !== null;
    if (isArchived && archived !== false) throw refuse('archived');

    const turns = archived !== undefined && archived !== isArchived;
    const archivedAt = archived === true ? at : null;
    const wanted = turns ? { ...given, archivedAt } : given;
    const { changed, fields: all } = projects.change(db, project, wanted, at);
    const fields = all.filter((field) => field !== 'archivedAt');
    if (leads?.hasLead === false && fields.includes('visibility')) {
      db.deferToCommit(setDirectProjectRole(project.id, memberId, { role: 'lead', created_at: at }));
      emit('project.memberAdded', toProjectEventSubject(changed), { memberId, role: 'lead' });
    }
    if (fields.length > 0) emit('project.updated', toProjectEventSubject(changed), { fields });
    if (turns) emit(archived ? 'project.archived' : 'project.unarchived', toProjectEventSubject(changed), {});
    return { project: toProject(changed, rank) };
  },
);
