/** Lists the stories that a caller may begin next, in order. */
import { type Db, type IdOrSql, orgFilter, type Part, sql } from '@muster/driver';
import { type internalOperations, type ParamsOf, priorities } from '@muster/contract';
import { type Caller } from '@muster/runtime';
import { hasLabels } from './labels.ts';
import { boardFactsColumns, type BoardFactsRow, boardFactsTables } from './readiness-facts.ts';

type Params = ParamsOf<typeof internalOperations.nextStories>;

export interface NextStoryRow extends BoardFactsRow {
  readonly id: string;
  readonly key: string;
  readonly is_assigned: boolean;
  readonly is_mine: boolean;
  readonly touches: string[];
  /** The sort key of the list: urgency, column position, column, rank. */
  readonly urgency: number;
  readonly position: number;
  readonly place_column: string;
  readonly rank: string;
}

type NextStoryCursor = NonNullable<Params['after']>;

/** Returns the cursor for the list after this story. */
export const toNextStoryCursor = ({
  urgency,
  position,
  place_column: columnId,
  rank,
}: NextStoryRow): NextStoryCursor => ({
  ...{ urgency, position, columnId, rank },
});

/** Returns the condition that story `s` has an assignment that matches `who`. */
const hasAssignment = (assignmentFilter: Part): Part =>
  sql.part`exists (select from assignments a where ${orgFilter('a')} and a.target_type = 'story' and a.target_id = s.id and ${assignmentFilter})`;

/**
 * Returns the condition that story `s` is assigned to the caller. A member in person matches with any agent.
 * A calling agent matches itself, or its member if no agent is assigned.
 */
const isAssignedToCaller = ({ memberId, agentId }: Caller): Part =>
  hasAssignment(
    agentId === null
      ? sql.part`a.member_id = ${memberId}::uuid`
      : sql.part`(a.agent_id = ${agentId}::uuid or a.agent_id is null and a.member_id = ${memberId}::uuid)`,
  );

const prioritiesByUrgency = [...priorities].reverse();

/** Returns the conditions for stories `s` that match the filters. */
function storyFilters({ labels = [], epicId, assignedToMe }: Params, callerFilter: Part): Part[] {
  // The columns to read contain no finished stories. This condition lets the planner use the partial index of
  // unfinished stories.
  const where = [orgFilter('s'), sql.part`s.completed_at is null`];
  if (labels.length > 0) where.push(hasLabels(sql.part`s.labels`, labels));
  if (epicId !== undefined) where.push(sql.part`s.epic_id = ${epicId}::uuid`);
  if (assignedToMe) where.push(callerFilter);
  return where;
}

/**
 * Returns the conditions for stories after the cursor. These are stories of lower priorities, stories of
 * later columns, and stories with higher ranks in the column of the cursor.
 */
function conditionsAfterCursor(nextCursor: NextStoryCursor | undefined): {
  readonly column: Part;
  readonly rank: Part;
} {
  if (nextCursor === undefined) return { column: sql.part`true`, rank: sql.part`true` };
  const { urgency, position, columnId, rank } = nextCursor;
  const here = sql.part`(u.urgency, c.position, c.id)`;
  const there = sql.part`(${urgency}::bigint, ${position}::int, ${columnId}::uuid)`;
  return {
    column: sql.part`${here} >= ${there}`,
    rank: sql.part`s.rank > case when ${here} = ${there} then ${rank}::text else '' end`,
  };
}

/**
 * Lists `limit + 1` stories. It reads the named stories, or each column from its top, once per priority, for
 * no more rows than a page needs. The details are read by a lateral join per story, because the planner
 * overestimates the number of stories.
 */
export function listNextStories(
  db: Db,
  caller: Caller,
  project: IdOrSql,
  params: Params,
): Promise<NextStoryRow[]> {
  const { statuses, storyIds, limit, after } = params;
  const mine = isAssignedToCaller(caller);
  const where = storyFilters(params, mine);
  const from = conditionsAfterCursor(after);
  const matching =
    storyIds === undefined
      ? sql.part`columns c cross join unnest(${prioritiesByUrgency}::text[]) with ordinality u (priority, urgency)
         cross join lateral (select s.id, s.rank from stories s where ${sql.join(where, ' and ')} and s.project_id = c.project_id
           and s.column_id = c.id and s.priority = u.priority and ${from.rank} order by s.rank limit ${sql.literal(limit + 1)}) s
         where ${from.column}`
      : sql.part`unnest(${storyIds}::uuid[]) i (id)
         cross join lateral (select s.id, s.rank, s.column_id, s.priority from stories s
           where ${sql.join(where, ' and ')} and s.id = i.id limit 1) s
         join columns c on c.id = s.column_id
         cross join lateral (select array_position(${prioritiesByUrgency}::text[], s.priority) as urgency) u
         where ${from.column} and ${from.rank}`;
  return db.all(
    sql<NextStoryRow>`with columns as materialized (
         select c.id, c.project_id, c.position from board_columns c
         where ${orgFilter('c')} and c.project_id = ${project} and c.archived_at is null and c.status = any (${statuses}::text[])),
       next as materialized (
         select s.id, u.urgency::int as urgency, c.position, c.id as place_column, s.rank
         from ${matching}
         order by u.urgency, c.position, c.id, s.rank limit ${limit + 1})
       select q.*, n.urgency, n.position, n.place_column, n.rank from next n cross join lateral (
         select s.id, p.key || '-' || s.number as key, ${hasAssignment(sql.part`true`)} as is_assigned, ${mine} as is_mine, s.touches,
           ${boardFactsColumns}
         from stories s ${boardFactsTables} where ${orgFilter('s')} and s.id = n.id limit 1) q
       order by n.urgency, n.position, n.place_column, n.rank`,
  );
}
