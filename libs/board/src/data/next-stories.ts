/** The stories that a caller may begin next, in the order in which they come. */
import { type Db, type Id, of, type Part, type Query, sql } from '@muster/database';
import { type inside, type ParamsOf, priorities } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { boardFactsColumns, type BoardFactsRow, boardFactsTables } from './readiness-facts.ts';
import { firstColumn } from './ranks.ts';

type Params = ParamsOf<typeof inside.nextStories>;

export interface NextRow extends BoardFactsRow {
  readonly id: string;
  readonly key: string;
  readonly is_assigned: boolean;
  readonly is_mine: boolean;
}

/**
 * Locks the columns that work begins in and the one that it goes to, in the order of all who lock columns. Every project
 * has one for its backlog, so that no two callers decide at once, whether or not they move what they take.
 */
export const lockColumnsOfWork = (project: Id): Query<unknown> =>
  sql`select c.id from board_columns c where ${of('c')} and c.project_id = ${project} and c.archived_at is null
       and (c.status in ('backlog', 'ready') or c.id = ${firstColumn(project, 'in_progress')})
     order by c.id for no key update`;

/** Some agent or member is assigned to the story `s`. */
const isAssigned = (who: Part): Part =>
  sql.part`exists (select from assignments a where ${of('a')} and a.target_type = 'story' and a.target_id = s.id and ${who})`;

/** To the member in person with whatever agent beside, to the agent, or to the member of an agent with none beside. */
const isMine = ({ memberId, agentId }: Caller): Part =>
  isAssigned(
    agentId === null
      ? sql.part`a.member_id = ${memberId}::uuid`
      : sql.part`(a.agent_id = ${agentId}::uuid or a.agent_id is null and a.member_id = ${memberId}::uuid)`,
  );

const mostUrgentFirst = [...priorities].reverse();

/** The stories `s` of the columns `c` that pass the filters. */
function filters({ labels = [], epicId, assignedToMe }: Params, mine: Part): Part[] {
  // What is over is in none of these columns; the index knows it by this.
  const where = [of('s'), sql.part`s.project_id = c.project_id`, sql.part`s.completed_at is null`];
  if (labels.length > 0) where.push(sql.part`s.labels @> ${labels}::text[]`);
  if (epicId !== undefined) where.push(sql.part`s.epic_id = ${epicId}::uuid`);
  if (assignedToMe) where.push(mine);
  return where;
}

/**
 * One more than `limit`. Each column is walked from its top for each priority, for no more than the page needs. What is
 * told of each story is read one by one, which leaves the planner no choice: it knows not how few they are.
 */
export function listNextStories(db: Db, caller: Caller, project: Id, params: Params): Promise<NextRow[]> {
  const { statuses, storyIds, limit, offset } = params;
  const mine = isMine(caller);
  const where = filters(params, mine);
  const ofColumn =
    storyIds === undefined
      ? sql.part`(select s.id, s.rank from stories s where ${sql.join(where, ' and ')}
        and s.column_id = c.id and s.priority = u.priority order by s.rank limit ${sql.literal(offset + limit + 1)})`
      : sql.part`(select s.id, s.rank from stories s where ${sql.join(where, ' and ')}
        and s.column_id = c.id and s.priority = u.priority and s.id = any (${storyIds}::uuid[]))`;
  return db.all(
    sql<NextRow>`with columns as materialized (
         select c.id, c.project_id, c.position from board_columns c
         where ${of('c')} and c.project_id = ${project} and c.archived_at is null and c.status = any (${statuses}::text[])),
       next as materialized (
         select w.id, row_number() over (order by u.urgency, c.position, c.id, w.rank) as nth
         from columns c cross join unnest(${mostUrgentFirst}::text[]) with ordinality u (priority, urgency)
         cross join lateral ${ofColumn} w
         order by nth limit ${limit + 1} offset ${offset})
       select q.* from next n cross join lateral (
         select s.id, p.key || '-' || s.number as key, ${isAssigned(sql.part`true`)} as is_assigned, ${mine} as is_mine,
           ${boardFactsColumns}
         from stories s ${boardFactsTables} where ${of('s')} and s.id = n.id limit 1) q
       order by n.nth`,
  );
}
