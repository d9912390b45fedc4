import { registry } from '@muster/registry';
import { badRequest, handle, notFound } from '@muster/runtime';
import { findLastRank, lockStoriesIn, moveStories } from '../../data/column-stories.ts';
import {
  aboutColumn,
  addStoryCount,
  changedColumn,
  lockBoard,
  setColumn,
  setPositions,
  toColumn,
} from '../../data/columns.ts';
import { countByHand } from '../../data/counts.ts';
import { notInProject } from '../../data/elsewhere.ts';
import { isIndispensable, misplaced, onBoard } from '../../rules/columns.ts';
import { ranksAfter } from '../../rules/ranks.ts';

export const archive = handle(registry.boardColumns.archive, async (context) => {
  const { params, caller, db, access, emit, refuse } = context;
  const { columnId, moveStoriesToColumnId: targetId } = params;
  const { orgId } = caller;
  if (targetId === columnId) {
    throw badRequest('The stories need another column.', [
      { path: 'moveStoriesToColumnId', message: 'is the column that is to be archived' },
    ]);
  }

  const [{ at }, { projectId, columns }, stories, last] = await Promise.all([
    access(),
    lockBoard(db, orgId, { columnId }),
    lockStoriesIn(db, orgId, columnId),
    targetId === undefined ? null : findLastRank(db, orgId, targetId),
  ]);
  const active = onBoard(columns);
  const column = columns.find(({ id }) => id === columnId);
  if (column === undefined) throw notFound();
  if (column.archived_at !== null) return { column: toColumn(column), movedStories: 0 };

  const target = active.find(({ id }) => id === targetId);
  if (targetId !== undefined && target === undefined)
    throw await notInProject(context, projectId, 'board_columns', targetId);
  if (target !== undefined && target.status !== column.status) {
    throw refuse('invalid_transition', { from: column.status, to: target.status });
  }
  if (isIndispensable(active, column)) throw refuse('last_column', { status: column.status });
  if (target === undefined && stories.length > 0)
    throw refuse('column_not_empty', { stories: stories.length });

  const archived = changedColumn(column, { archived_at: at }, at);
  db.later(setColumn(orgId, archived));
  if (target !== undefined && stories.length > 0) {
    db.later(countByHand());
    db.later(moveStories(orgId, target.id, stories, ranksAfter(last, stories.length), at));
    db.later(addStoryCount(orgId, column.id, -stories.length));
    db.later(addStoryCount(orgId, target.id, stories.length));
  }
  const moved = misplaced(active.filter(({ id }) => id !== columnId));
  if (moved.length > 0) db.later(setPositions(orgId, moved, at));
  emit('column.archived', aboutColumn(archived), { movedStories: stories.length });
  return { column: toColumn(archived), movedStories: stories.length };
});
