import { leadRank } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { boardColumns, toColumn } from '../../data/columns.ts';
import { insertNewProject } from '../../data/new-project.ts';
import { isProjectLimitReached, lockProjectUsage } from '../../data/project-limit.ts';
import { toProjectEventSubject, projects, toProject } from '../../data/projects.ts';
import { defaultColumns } from '../../rules/columns.ts';

export const create = handle(
  boardRegistry.projects.create,
  async ({ params, caller, db, access, emit, refuse }) => {
    const [{ at }, room] = await Promise.all([access(), lockProjectUsage(db)]);
    if (isProjectLimitReached(room)) throw refuse('limit_exceeded', { ...room });

    const project = projects.make({ ...params, origin: 'hosted' }, at);
    const columns = (params.columns ?? defaultColumns).map((column, position) =>
      boardColumns.make({ ...column, projectId: project.id, position }, at),
    );
    insertNewProject(db, caller, project, {
      columns,
      lastStoryNumber: 0,
      canceledStories: 0,
      localBoard: null,
    });
    emit('project.created', toProjectEventSubject(project), {});
    return { project: toProject(project, leadRank), columns: columns.map(toColumn) };
  },
);
