/** Moves a story on the board. All operations that move stories share these rules, gates and limits. */
import { type inside, type Policy, type registry, type StoryStatus, type Warning } from '@muster/registry';
import { type HandlerContext, notFound, nothingAt } from '@muster/runtime';
import { notInProject } from '../../data/elsewhere.ts';
import { type MoveDestination, type LockedColumn, type Move, rankAt } from '../../data/ranks.ts';
import { gatesOf } from '../../data/reviews.ts';
import { aboutStory, stories, toStory } from '../../data/stories.ts';
import { canceledRank } from '../../rules/ranks.ts';
import { canMove, isFinished, unmetGates } from '../../rules/workflow.ts';
import { roomFor } from './room.ts';

/**
 * The context of any operation that moves a story. It can refuse at least with the reasons of
 * inside.beginStory.
 */
type Context = Pick<HandlerContext<typeof registry.stories.reorder>, 'caller' | 'db' | 'access' | 'emit'> &
  Pick<HandlerContext<typeof inside.beginStory>, 'refuse'>;

/** Throws not_found or mismatched_project if the column or the anchor story of the destination is missing. */
export async function requireNamed(
  context: Context,
  { story, columns, place }: Move,
  { columnId, anchor }: MoveDestination,
): Promise<void> {
  const column = columns.find(({ id }) => id === columnId);
  if (columnId !== undefined && column === undefined) {
    const named = { ref: columnId, path: 'columnId' };
    throw await notInProject(context, story.project_id, 'board_columns', named);
  }
  if (anchor !== undefined && place.anchor_id === null) {
    const named = { ref: anchor.ref, path: `${anchor.side}StoryId` };
    throw await notInProject(context, story.project_id, 'stories', named);
  }
  if (column !== undefined && column.archived_at !== null) throw nothingAt('columnId');
}

/** Returns the destination column; null cancels the story. Throws if there is no such column. */
function columnOf(
  { refuse }: Context,
  { story, columns, place }: Move,
  to: MoveDestination,
): LockedColumn | null {
  if (to.columnId !== undefined && place.column_id !== to.columnId) {
    throw refuse('invalid_transition', { columnId: to.columnId, anchorColumnId: place.column_id });
  }
  const column = columns.find(({ id }) => id === place.column_id);
  if (column === undefined) {
    if (to.status === 'canceled') return null;
    throw refuse('invalid_transition', { from: story.status, to: to.status ?? null });
  }
  if (column.archived_at !== null) throw notFound();
  if (to.status !== undefined && column.status !== to.status) {
    throw refuse('invalid_transition', { from: story.status, to: to.status, columnStatus: column.status });
  }
  return column;
}

/**
 * Moves a locked story to the place that was found for it. Throws if the workflow, the policy or the column's
 * limit forbids the move.
 */
export async function moveStory(
  context: Context,
  move: Move,
  policy: Policy,
  to: MoveDestination,
): Promise<{ story: ReturnType<typeof toStory>; warnings: Warning[] }> {
  const { caller, db, access, emit, refuse } = context;
  const { story, place } = move;
  const { at } = await access();
  const column = columnOf(context, move, to);
  const status: StoryStatus = column?.status ?? 'canceled';

  if (status !== story.status) {
    if (!canMove(story.status, status))
      throw refuse('invalid_transition', { from: story.status, to: status });
    const unmet = unmetGates(
      status,
      policy,
      gatesOf({ ...story, has_spec: place.has_spec }, move.reviews, policy, caller),
    );
    if (unmet.length > 0) throw refuse('policy', { unmet });
  }
  const warnings: Warning[] = [];
  if (column !== null && column.id !== story.column_id) {
    warnings.push(...roomFor(refuse, column, 1, policy));
  } else if (column !== null && isThere(move)) {
    return { story: toStory(story), warnings };
  }
  if (status === 'done' && column !== null && status !== story.status)
    warnings.push(...warningsOfDone(move, column.id));

  const rank = column === null ? canceledRank() : await rankAt(db, story, column.id, place);
  const finished = isFinished(story.status) ? story.completed_at : at;
  const changed = stories.save(
    db,
    story,
    { status, column_id: column?.id ?? null, rank, completed_at: isFinished(status) ? finished : null },
    at,
  );
  if (status !== story.status) {
    emit('story.statusChanged', aboutStory(story), {
      from: story.status,
      to: status,
      columnId: changed.column_id,
    });
  } else if (column !== null) {
    emit('story.reordered', aboutStory(story), { columnId: column.id });
  }
  return { story: toStory(changed), warnings };
}

/**
 * Returns warnings about a move to done while the story has open blockers or its work continues. Such moves
 * are rarely intended.
 */
function warningsOfDone({ story, unfinished }: Move, columnId: string): Warning[] {
  const { blockers = [], holder = null, awaitsMerge = false } = unfinished ?? {};
  const warnings: Warning[] = [];
  const warn = (code: Warning['code'], message: string): void => {
    warnings.push({ code, message, columnId });
  };
  if (blockers.length > 0)
    warn('blocked_by', `The story is done, but ${blockers.join(', ')}, which it waits for, is not.`);
  if (story.blocked !== null)
    warn('blocked', `The story is done, but still marked as blocked: ${story.blocked.note}`);
  if (holder !== null) warn('lease_held', `${holder} still works on the story and holds its lease.`);
  if (awaitsMerge)
    warn(
      'merge_pending',
      'The submitted work stays open until the linked repository reports that it was merged.',
    );
  return warnings;
}

/** Reports whether the story is already at the place to which it should move. */
const isThere = ({ story, place }: Move): boolean =>
  place.anchor_id === story.id ||
  ((place.lower === null || place.lower < story.rank) && (place.upper === null || story.rank < place.upper));
