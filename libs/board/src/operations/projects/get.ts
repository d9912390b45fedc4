import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { getBoard, toColumn } from '../../data/columns.ts';
import { projects, toProject } from '../../data/projects.ts';

export const get = handle(boardRegistry.projects.get, async ({ targetId, db, projectRank }) => {
  const [rank, project, { columns, counts }] = await Promise.all([
    projectRank(),
    projects.get(db, targetId),
    getBoard(db, targetId),
  ]);
  return { project: toProject(project, rank), columns: columns.map(toColumn), counts };
});
