/** Moves a story on the board. All operations that move stories share these rules, gates and limits. */
import { type internalOperations, type Policy, type StoryStatus, type Warning } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type HandlerContext, notFound, pathNotFound } from '@muster/runtime';
import { notInProjectError } from '../../data/elsewhere.ts';
import { type MoveDestination, type LockedColumn, type LockedMove, assignRank } from '../../data/ranks.ts';
import { toMoveGates } from '../../data/reviews.ts';
import { toStoryEventSubject, stories, toStory } from '../../data/stories.ts';
import { createCanceledRank } from '../../rules/ranks.ts';
import { canMove, isFinished, findUnmetGates } from '../../rules/workflow.ts';
import { closeParent } from './close-parent.ts';
import { checkWipLimit } from './room.ts';

/**
 * The context of any operation that moves a story. It can refuse at least with the reasons of
 * inside.beginStory.
 */
type MoveStoryContext = Pick<
  HandlerContext<typeof boardRegistry.stories.reorder>,
  'caller' | 'db' | 'access' | 'emit' | 'perform'
> &
  Pick<HandlerContext<typeof internalOperations.beginStory>, 'refuse'>;

/** Throws not_found or mismatched_project if the column or the anchor story of the destination is missing. */
export async function requireDestinationExists(
  context: MoveStoryContext,
  { story, columns, position }: LockedMove,
  { columnId, anchor }: MoveDestination,
): Promise<void> {
  const column = columns.find(({ id }) => id === columnId);
  if (columnId !== undefined && column === undefined) {
    const named = { ref: columnId, path: 'columnId' };
    throw await notInProjectError(context, story.project_id, 'board_columns', named);
  }
  if (anchor !== undefined && position.anchor_id === null) {
    const named = { ref: anchor.ref, path: `${anchor.side}StoryId` };
    throw await notInProjectError(context, story.project_id, 'stories', named);
  }
  if (column !== undefined && column.archived_at !== null) throw pathNotFound('columnId');
}

/** Returns the destination column; null cancels the story. Throws if there is no such column. */
function requireDestinationColumn(
  { refuse }: MoveStoryContext,
  { story, columns, position }: LockedMove,
  destination: MoveDestination,
): LockedColumn | null {
  if (destination.columnId !== undefined && position.column_id !== destination.columnId)
    throw refuse('invalid_transition', {
      columnId: destination.columnId,
      anchorColumnId: position.column_id,
    });
  const column = columns.find(({ id }) => id === position.column_id);
  if (column === undefined) {
    if (destination.status === 'canceled') return null;
    throw refuse('invalid_transition', { from: story.status, to: destination.status ?? null });
  }
  if (column.archived_at !== null) throw notFound();
  if (destination.status !== undefined && column.status !== destination.status)
    throw refuse('invalid_transition', {
      from: story.status,
      to: destination.status,
      columnStatus: column.status,
    });
  return column;
}

/**
 * Moves a locked story to the place that was found for it. Throws if the workflow, the policy or the column's
 * limit forbids the move.
 */
export async function moveStory(
  context: MoveStoryContext,
  move: LockedMove,
  policy: Policy,
  destination: MoveDestination,
): Promise<{ story: ReturnType<typeof toStory>; warnings: Warning[] }> {
  const { caller, db, access, emit, refuse } = context;
  const { story, position } = move;
  const { at } = await access();
  const column = requireDestinationColumn(context, move, destination);
  const status: StoryStatus = column?.status ?? 'canceled';

  if (status !== story.status) {
    if (!canMove(story.status, status))
      throw refuse('invalid_transition', { from: story.status, to: status });
    const unmet = findUnmetGates(
      status,
      policy,
      toMoveGates({ ...story, has_spec: position.has_spec }, move.reviews, policy, caller),
    );
    if (unmet.length > 0) throw refuse('policy', { unmet });
  }
  const warnings: Warning[] = [];
  if (column !== null && column.id !== story.column_id) {
    warnings.push(...checkWipLimit(refuse, column, 1, policy));
  } else if (column !== null && isAlreadyInPosition(move)) {
    return { story: toStory(story), warnings };
  }
  if (status === 'done' && column !== null && status !== story.status)
    warnings.push(...warnAboutUnfinishedWork(move, column.id));

  const rank = column === null ? createCanceledRank() : await assignRank(db, story, column.id, position);
  const finished = isFinished(story.status) ? story.completed_at : at;
  const changed = stories.save(
    db,
    story,
    { status, column_id: column?.id ?? null, rank, completed_at: isFinished(status) ? finished : null },
    at,
  );
  if (status !== story.status) {
    emit('story.statusChanged', toStoryEventSubject(story), {
      from: story.status,
      to: status,
      columnId: changed.column_id,
    });
  } else if (column !== null) {
    emit('story.reordered', toStoryEventSubject(story), { columnId: column.id });
  }
  if (isFinished(status) && !isFinished(story.status))
    warnings.push(...(await closeParent(context, changed, policy)));
  return { story: toStory(changed), warnings };
}

/**
 * Returns warnings about a move to done while the story has open blockers or its work continues. Such moves
 * are rarely intended.
 */
function warnAboutUnfinishedWork({ story, unfinishedWork }: LockedMove, columnId: string): Warning[] {
  const { blockers = [], children = [], holder = null, awaitsMerge = false } = unfinishedWork ?? {};
  const warnings: Warning[] = [];
  const warn = (code: Warning['code'], message: string): void => {
    warnings.push({ code, message, columnId });
  };
  if (blockers.length > 0)
    warn('blocked_by', `The story is done, but ${blockers.join(', ')}, which it waits for, is not.`);
  if (children.length > 0)
    warn('has_children', `The story is done, but its children ${children.join(', ')} are not.`);
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
const isAlreadyInPosition = ({ story, position }: LockedMove): boolean =>
  position.anchor_id === story.id ||
  ((position.lower === null || position.lower < story.rank) &&
    (position.upper === null || story.rank < position.upper));
