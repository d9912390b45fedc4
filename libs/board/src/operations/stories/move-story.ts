/** A move on the board, whichever operation asks for it: the same rules, gates and limits. */
import { type inside, type Policy, type registry, type StoryStatus, type Warning } from '@muster/registry';
import { type HandlerContext, notFound, nothingAt } from '@muster/runtime';
import { notInProject } from '../../data/elsewhere.ts';
import { type Destination, type Lane, type Move, rankAt } from '../../data/ranks.ts';
import { gatesOf } from '../../data/reviews.ts';
import { aboutStory, stories, toStory } from '../../data/stories.ts';
import { canceledRank } from '../../rules/ranks.ts';
import { canMove, isFinished, unmetGates } from '../../rules/workflow.ts';
import { roomFor } from './room.ts';

/** Of whichever operation moves; it can refuse at least what beginning a story can. */
type Context = Pick<HandlerContext<typeof registry.stories.reorder>, 'caller' | 'db' | 'access' | 'emit'> &
  Pick<HandlerContext<typeof inside.beginStory>, 'refuse'>;

/** The column that the story is to be in; null: it is to be canceled. Throws where there is none. */
async function laneOf(
  context: Context,
  { story, lanes, place }: Move,
  to: Destination,
): Promise<Lane | null> {
  const { refuse } = context;
  if (to.columnId !== undefined && !lanes.some(({ id }) => id === to.columnId)) {
    throw await notInProject(context, story.project_id, 'board_columns', {
      ref: to.columnId,
      path: 'columnId',
    });
  }
  if (to.anchor !== undefined && place.anchor_id === null) {
    throw await notInProject(context, story.project_id, 'stories', {
      ref: to.anchor.ref,
      path: `${to.anchor.side}StoryId`,
    });
  }
  if (to.columnId !== undefined && place.column_id !== to.columnId) {
    throw refuse('invalid_transition', { columnId: to.columnId, anchorColumnId: place.column_id });
  }
  const lane = lanes.find(({ id }) => id === place.column_id);
  if (lane === undefined) {
    if (to.status === 'canceled') return null;
    throw refuse('invalid_transition', { from: story.status, to: to.status ?? null });
  }
  if (lane.archived_at !== null) throw to.columnId === undefined ? notFound() : nothingAt('columnId');
  if (to.status !== undefined && lane.status !== to.status) {
    throw refuse('invalid_transition', { from: story.status, to: to.status, columnStatus: lane.status });
  }
  return lane;
}

/** Moves a locked story to its place, if the workflow, the policy and the column's limit let it. */
export async function moveStory(
  context: Context,
  move: Move,
  policy: Policy,
  to: Destination,
): Promise<{ story: ReturnType<typeof toStory>; warnings: Warning[] }> {
  const { caller, db, access, emit, refuse } = context;
  const { story, place } = move;
  const { at } = await access();
  const lane = await laneOf(context, move, to);
  const status: StoryStatus = lane?.status ?? 'canceled';

  if (status !== story.status) {
    if (!canMove(story.status, status))
      throw refuse('invalid_transition', { from: story.status, to: status });
    const unmet = unmetGates(status, policy, gatesOf(story, move.reviews, policy, caller));
    if (unmet.length > 0) throw refuse('policy', { unmet });
  }
  const warnings: Warning[] = [];
  if (lane !== null && lane.id !== story.column_id) {
    warnings.push(...roomFor(refuse, lane, 1, policy));
  } else if (lane !== null && isThere(move)) {
    return { story: toStory(story), warnings };
  }

  const rank = lane === null ? canceledRank() : await rankAt(db, story, lane.id, place);
  const finished = isFinished(story.status) ? story.completed_at : at;
  const changed = stories.save(
    db,
    story,
    { status, column_id: lane?.id ?? null, rank, completed_at: isFinished(status) ? finished : null },
    at,
  );
  if (status !== story.status) {
    emit('story.statusChanged', aboutStory(story), {
      from: story.status,
      to: status,
      columnId: changed.column_id,
    });
  } else if (lane !== null) {
    emit('story.reordered', aboutStory(story), { columnId: lane.id });
  }
  return { story: toStory(changed), warnings };
}

/** Whether a story of this column stands at the place already. */
const isThere = ({ story, place }: Move): boolean =>
  place.anchor_id === story.id ||
  ((place.lower === null || place.lower < story.rank) && (place.upper === null || story.rank < place.upper));
