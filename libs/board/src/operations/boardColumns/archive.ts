import { type Policy, type Warning } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { badRequest, handle, type HandlerContext, notFound } from '@muster/runtime';
import {
  type ColumnStory,
  addToDoneCounts,
  findLastRankInColumn,
  lockStoriesInColumn,
  moveStories,
} from '../../data/column-stories.ts';
import {
  toColumnEventSubject,
  addStoryCount,
  boardColumns,
  type ColumnRow,
  lockBoard,
  setColumnPositions,
  toColumn,
} from '../../data/columns.ts';
import { disableStoryCountTriggers } from '../../data/counts.ts';
import { notInProjectError } from '../../data/elsewhere.ts';
import { findReviewsOfColumn, toMoveGates, noReviews, type Reviews } from '../../data/reviews.ts';
import { toStoryEventSubject, toStoryKey } from '../../data/stories.ts';
import { isRequiredColumn, findMovedColumns, getActiveColumns } from '../../rules/columns.ts';
import { ranksAfter } from '../../rules/ranks.ts';
import { canMove, findUnmetGates } from '../../rules/workflow.ts';
import { checkWipLimit } from '../stories/room.ts';

type ArchiveColumnContext = HandlerContext<typeof boardRegistry.boardColumns.archive>;

export const archive = handle(boardRegistry.boardColumns.archive, async (context) => {
  const { params, db, access, policy: askPolicy, emit, refuse } = context;
  const { columnId, moveStoriesToColumnId: targetId } = params;
  if (targetId === columnId)
    throw badRequest("The column's stories cannot move to the column itself.", [
      { path: 'moveStoriesToColumnId', message: 'must name a column other than the one to be archived' },
    ]);

  const [{ at }, policy, { projectId, columns }, stories, last, reviews] = await Promise.all([
    access(),
    askPolicy(),
    lockBoard(db, { columnId }),
    lockStoriesInColumn(db, columnId),
    targetId === undefined ? null : findLastRankInColumn(db, targetId),
    targetId === undefined ? new Map<string, Reviews>() : findReviewsOfColumn(db, { columnId, targetId }),
  ]);
  const active = getActiveColumns(columns);
  const column = columns.find(({ id }) => id === columnId);
  if (column === undefined) throw notFound();
  if (column.archived_at !== null) return { column: toColumn(column), movedStories: 0, warnings: [] };

  const target = active.find(({ id }) => id === targetId);
  if (targetId !== undefined && target === undefined)
    throw await notInProjectError(context, projectId, 'board_columns', {
      ref: targetId,
      path: 'moveStoriesToColumnId',
    });
  if (isRequiredColumn(active, column)) throw refuse('last_column', { status: column.status });
  if (target === undefined && stories.length > 0)
    throw refuse('column_not_empty', { stories: stories.length });

  const warnings: Warning[] = [];
  if (target !== undefined && target.status !== column.status && !canMove(column.status, target.status))
    throw refuse('invalid_transition', { from: column.status, to: target.status });
  const archived = boardColumns.save(db, column, { archived_at: at }, at);
  if (target !== undefined && stories.length > 0) {
    warnings.push(...checkWipLimit(refuse, target, stories.length, policy));
    if (target.status !== column.status)
      checkGatesAndEmitStatusChanges(context, { column, target, stories, reviews, policy });
    await db.all(disableStoryCountTriggers());
    const ids = stories.map(({ id }) => id);
    await moveStories(db, target, ids, ranksAfter(last, ids.length), at);
    db.deferToCommit(addStoryCount(column.id, -ids.length));
    db.deferToCommit(addStoryCount(target.id, ids.length));
    const done = Number(target.status === 'done') - Number(column.status === 'done');
    if (done !== 0) db.deferToCommit(addToDoneCounts(projectId, ids, done));
  }
  const moved = findMovedColumns(active.filter(({ id }) => id !== columnId));
  if (moved.length > 0) db.deferToCommit(setColumnPositions(moved, at));
  emit('column.archived', toColumnEventSubject(archived), { movedStories: stories.length });
  return { column: toColumn(archived), movedStories: stories.length, warnings };
});

/**
 * Checks for each story the gates of a single move to the target's status, and emits its events. Throws if a
 * gate is not met.
 */
function checkGatesAndEmitStatusChanges(
  { caller, emit, refuse }: ArchiveColumnContext,
  columnMove: {
    readonly column: ColumnRow;
    readonly target: ColumnRow;
    readonly stories: readonly ColumnStory[];
    readonly reviews: ReadonlyMap<string, Reviews>;
    readonly policy: Policy;
  },
): void {
  const { column, target, policy } = columnMove;
  for (const story of columnMove.stories) {
    const gates = toMoveGates(story, columnMove.reviews.get(story.id) ?? noReviews, policy, caller);
    const unmet = findUnmetGates(target.status, policy, gates);
    if (unmet.length > 0) throw refuse('policy', { unmet, storyId: story.id, storyKey: toStoryKey(story) });
    emit('story.statusChanged', toStoryEventSubject(story), {
      from: column.status,
      to: target.status,
      columnId: target.id,
    });
  }
}
