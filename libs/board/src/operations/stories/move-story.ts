/** A move on the board, whichever operation asks for it: the same rules, gates and limits. */
import { type inside, type Policy, type registry, type StoryStatus, type Warning } from '@muster/registry';
import { type HandlerContext, notFound, nothingAt } from '@muster/runtime';
import { notInProject } from '../../data/elsewhere.ts';
import { type Destination, type LockedColumn, type Move, rankAt } from '../../data/ranks.ts';
import { gatesOf } from '../../data/reviews.ts';
import { aboutStory, stories, toStory } from '../../data/stories.ts';
import { canceledRank } from '../../rules/ranks.ts';
import { canMove, isFinished, unmetGates } from '../../rules/workflow.ts';
import { roomFor } from './room.ts';

/** Of whichever operation moves; it can refuse at least what beginning a story can. */
type Context = Pick<HandlerContext<typeof registry.stories.reorder>, 'caller' | 'db' | 'access' | 'emit'> &
  Pick<HandlerContext<typeof inside.beginStory>, 'refuse'>;

/** Throws where the column or the story that a move names is not there for it. */
export async function requireNamed(
  context: Context,
  { story, columns, place }: Move,
  { columnId, anchor }: Destination,
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

/** The column that the story is to be in; null: it is to be canceled. Throws where there is none. */
function columnOf(
  { refuse }: Context,
  { story, columns, place }: Move,
  to: Destination,
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

/** Moves a locked story to its place, which is there, if the workflow, the policy and the column's limit let it. */
export async function moveStory(
  context: Context,
  move: Move,
  policy: Policy,
  to: Destination,
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

/** A story may be done before what it waits for, and while it is worked on; it is rarely meant. */
function warningsOfDone({ story, unfinished }: Move, columnId: string): Warning[] {
  const { blockers = [], holder = null, awaitsMerge = false } = unfinished ?? {};
  const warnings: Warning[] = [];
  const warn = (code: Warning['code'], message: string): void => {
    warnings.push({ code, message, columnId });
  };
  if (blockers.length > 0)
    warn('blocked_by', `The story waits for ${blockers.join(', ')}, which is not finished.`);
  if (story.blocked !== null) warn('blocked', `The story is blocked: ${story.blocked.note}`);
  if (holder !== null) warn('lease_held', `${holder} still works on the story and holds its lease.`);
  if (awaitsMerge)
    warn('merge_pending', 'The submitted work stays open until the linked repository reports its merge.');
  return warnings;
}

/** Whether a story of this column stands at the place already. */
const isThere = ({ story, place }: Move): boolean =>
  place.anchor_id === story.id ||
  ((place.lower === null || place.lower < story.rank) && (place.upper === null || story.rank < place.upper));
