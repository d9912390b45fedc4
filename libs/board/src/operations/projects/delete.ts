import { internalOperations } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { projectIdSql } from '@muster/tenancy';
import { lockBoard } from '../../data/columns.ts';
import { toProjectEventSubject, deleteProject, getVisibleProject } from '../../data/projects.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(
  boardRegistry.projects.delete,
  async ({ params, caller, db, emit, refuse, perform }) => {
    const projectId = projectIdSql(params.projectId);
    const [{ columns, canceledStories }, project] = await Promise.all([
      lockBoard(db, { projectId }),
      getVisibleProject(db, caller, projectId),
    ]);
    if (params.confirmKey !== project.key) throw refuse('confirmation_mismatch');
    await perform(internalOperations.endWork, { projectId: project.id });

    const stories = columns.reduce((sum, column) => sum + column.story_count, canceledStories);
    for (const query of deleteProject(project.id)) db.deferToCommit(query);
    // After the deletion no member has a role in the project, and members only see events of visible projects
    // or of none. The event about a project that the whole organization could see therefore names no project.
    const subject = toProjectEventSubject(project);
    emit('project.deleted', project.visibility === 'org' ? { ...subject, projectId: null } : subject, {
      stories,
    });
    return { deleted: true as const };
  },
);
