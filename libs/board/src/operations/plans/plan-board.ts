/** Finds places on the board for the stories of a plan, and checks the gates of their moves. */
import { type Policy, type StoryStatus } from '@muster/contract';
import { type ImportBoard, type ImportColumn } from '../../data/import-board.ts';
import { type PlanStory } from '../../data/plan-stories.ts';
import { noReviews, type Reviews, toMoveGates } from '../../data/reviews.ts';
import { type StatusObstacle } from '../../rules/plan-decisions.ts';
import { canMove, compareWithWipLimit, findUnmetGates } from '../../rules/workflow.ts';
import { createEndRankGenerator } from '../imports/import-places.ts';
import { type ApplyContext } from './load-plan.ts';

/** A place at the end of a column; the column is null for a canceled story. */
interface BoardPosition {
  readonly columnId: string | null;
  readonly rank: string;
}

/** A locked board on which the stories of a plan move one after another. */
export interface PlanBoard {
  readonly findObstacle: (move: PlannedMove) => StatusObstacle | undefined;
  /** Moves a story from its column, which is null for a new or canceled story, to the end of another. */
  readonly move: (fromColumnId: string | null, status: StoryStatus) => BoardPosition;
  /** Returns the first column of the status if it has reached a limit that the policy enforces. */
  readonly findFullColumn: (status: StoryStatus) => ImportColumn | undefined;
}

/** A change of status that a plan asks for. */
interface PlannedMove {
  /** Undefined for a new story. */
  readonly story: PlanStory | undefined;
  readonly status: StoryStatus;
  /** True if the spec will have content, and its version, after the plan was applied. */
  readonly spec: { readonly hasContent: boolean; readonly version: number };
  readonly reviews: Reviews | undefined;
}

export function createPlanBoard(
  board: ImportBoard,
  policy: Policy,
  caller: ApplyContext['caller'],
): PlanBoard {
  const rankAtEnd = createEndRankGenerator(board);
  const counts = new Map(board.columns.map(({ id, storyCount }) => [id, storyCount]));
  const columnOf = (status: StoryStatus) => board.columns.find((column) => column.status === status);
  const addToCount = (columnId: string, change: number): void => {
    counts.set(columnId, (counts.get(columnId) ?? 0) + change);
  };
  const findFullColumn = (status: StoryStatus): ImportColumn | undefined => {
    const column = columnOf(status);
    if (column === undefined) return undefined;
    const { id, wipLimit } = column;
    const verdict = compareWithWipLimit({ wipLimit, storyCount: counts.get(id) ?? 0 }, policy.wipLimits);
    return verdict === 'refuse' ? column : undefined;
  };

  return {
    findFullColumn,
    findObstacle: ({ story, status, spec, reviews = noReviews }) => {
      const cannotMove = (message: string): StatusObstacle => ({ reason: 'invalid_transition', message });
      if (status !== 'canceled' && columnOf(status) === undefined)
        return cannotMove(`The board has no column with status ${status}.`);
      if (story !== undefined) {
        if (!canMove(story.status, status))
          return cannotMove(`A story cannot move from ${story.status} to ${status}.`);
        const judged = { ...story, has_spec: spec.hasContent, spec_version: spec.version };
        const unmet = findUnmetGates(status, policy, toMoveGates(judged, reviews, policy, caller));
        const gates = unmet.map(({ gate }) => gate).join(', ');
        if (unmet.length > 0)
          return {
            reason: 'policy',
            message: `The policy does not allow this status yet; unmet: ${gates}.`,
          };
      }
      return findFullColumn(status) === undefined
        ? undefined
        : { reason: 'wip_limit', message: 'The column has reached its limit of work in progress.' };
    },
    move: (fromColumnId, status) => {
      const column = status === 'canceled' ? null : columnOf(status);
      if (column === undefined) throw new Error(`the board has no column with status ${status}`);
      if (fromColumnId !== null) addToCount(fromColumnId, -1);
      if (column !== null) addToCount(column.id, 1);
      return { columnId: column?.id ?? null, rank: rankAtEnd(column) };
    },
  };
}
