import { type Policy, registry, type Warning } from '@muster/registry';
import { badRequest, handle, type HandlerContext, notFound } from '@muster/runtime';
import {
  type ColumnStory,
  countDone,
  findLastRank,
  lockStoriesIn,
  moveStories,
} from '../../data/column-stories.ts';
import {
  aboutColumn,
  addStoryCount,
  boardColumns,
  type ColumnRow,
  lockBoard,
  setPositions,
  toColumn,
} from '../../data/columns.ts';
import { countByHand } from '../../data/counts.ts';
import { notInProject } from '../../data/elsewhere.ts';
import { findReviewsIn, gatesOf, noReviews, type Reviews } from '../../data/reviews.ts';
import { aboutStory, keyOf } from '../../data/stories.ts';
import { isIndispensable, misplaced, onBoard } from '../../rules/columns.ts';
import { ranksAfter } from '../../rules/ranks.ts';
import { canMove, unmetGates } from '../../rules/workflow.ts';
import { roomFor } from '../stories/room.ts';

type Context = HandlerContext<typeof registry.boardColumns.archive>;

export const archive = handle(registry.boardColumns.archive, async (context) => {
  const { params, db, access, policy: askPolicy, emit, refuse } = context;
  const { columnId, moveStoriesToColumnId: targetId } = params;
  if (targetId === columnId) {
    throw badRequest("The column's stories cannot move to the column itself.", [
      { path: 'moveStoriesToColumnId', message: 'must name a column other than the one to be archived' },
    ]);
  }

  const [{ at }, policy, { projectId, columns }, stories, last, reviews] = await Promise.all([
    access(),
    askPolicy(),
    lockBoard(db, { columnId }),
    lockStoriesIn(db, columnId),
    targetId === undefined ? null : findLastRank(db, targetId),
    targetId === undefined ? new Map<string, Reviews>() : findReviewsIn(db, { columnId, targetId }),
  ]);
  const active = onBoard(columns);
  const column = columns.find(({ id }) => id === columnId);
  if (column === undefined) throw notFound();
  if (column.archived_at !== null) return { column: toColumn(column), movedStories: 0, warnings: [] };

  const target = active.find(({ id }) => id === targetId);
  if (targetId !== undefined && target === undefined)
    throw await notInProject(context, projectId, 'board_columns', {
      ref: targetId,
      path: 'moveStoriesToColumnId',
    });
  if (isIndispensable(active, column)) throw refuse('last_column', { status: column.status });
  if (target === undefined && stories.length > 0)
    throw refuse('column_not_empty', { stories: stories.length });

  const warnings: Warning[] = [];
  if (target !== undefined && target.status !== column.status && !canMove(column.status, target.status)) {
    throw refuse('invalid_transition', { from: column.status, to: target.status });
  }
  const archived = boardColumns.save(db, column, { archived_at: at }, at);
  if (target !== undefined && stories.length > 0) {
    warnings.push(...roomFor(refuse, target, stories.length, policy));
    if (target.status !== column.status) enter(context, { column, target, stories, reviews, policy });
    await db.all(countByHand());
    const ids = stories.map(({ id }) => id);
    await moveStories(db, target, ids, ranksAfter(last, ids.length), at);
    db.later(addStoryCount(column.id, -ids.length));
    db.later(addStoryCount(target.id, ids.length));
    const done = Number(target.status === 'done') - Number(column.status === 'done');
    if (done !== 0) db.later(countDone(projectId, ids, done));
  }
  const moved = misplaced(active.filter(({ id }) => id !== columnId));
  if (moved.length > 0) db.later(setPositions(moved, at));
  emit('column.archived', aboutColumn(archived), { movedStories: stories.length });
  return { column: toColumn(archived), movedStories: stories.length, warnings };
});

/**
 * Checks for each story the gates of a single move to the target's status, and emits its events. Throws if a
 * gate is not met.
 */
function enter(
  { caller, emit, refuse }: Context,
  way: {
    readonly column: ColumnRow;
    readonly target: ColumnRow;
    readonly stories: readonly ColumnStory[];
    readonly reviews: ReadonlyMap<string, Reviews>;
    readonly policy: Policy;
  },
): void {
  const { column, target, policy } = way;
  for (const story of way.stories) {
    const gates = gatesOf(story, way.reviews.get(story.id) ?? noReviews, policy, caller);
    const unmet = unmetGates(target.status, policy, gates);
    if (unmet.length > 0) throw refuse('policy', { unmet, storyId: story.id, storyKey: keyOf(story) });
    emit('story.statusChanged', aboutStory(story), {
      from: column.status,
      to: target.status,
      columnId: target.id,
    });
  }
}
