import { leadRank, registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { boardColumns, toColumn } from '../../data/columns.ts';
import { setNewProject } from '../../data/new-project.ts';
import { isFull, lockProjectRoom } from '../../data/project-limit.ts';
import { aboutProject, projects, toProject } from '../../data/projects.ts';
import { defaultColumns } from '../../rules/columns.ts';

export const create = handle(
  registry.projects.create,
  async ({ params, caller, db, access, emit, refuse }) => {
    const [{ at }, room] = await Promise.all([access(), lockProjectRoom(db)]);
    if (isFull(room)) throw refuse('limit_exceeded', { ...room });

    const project = projects.make({ ...params, origin: 'hosted' }, at);
    const columns = (params.columns ?? defaultColumns).map((column, position) =>
      boardColumns.make({ ...column, projectId: project.id, position }, at),
    );
    setNewProject(db, caller, project, { columns, lastStoryNumber: 0, canceledStories: 0, local: null });
    emit('project.created', aboutProject(project), {});
    return { project: toProject(project, leadRank), columns: columns.map(toColumn) };
  },
);
