/**
 * The activity: all events, for every member who may see their project. Budget events are visible only to admins and
 * project leads.
 */
import { type Db, type Part, sql, defineView } from '@muster/driver';
import { type ParamsOf, type ResultOf } from '@muster/contract';
import { type NotificationsRegistry } from '@muster/notifications-registry';
import { type Caller } from '@muster/runtime';
import { projectIdSql, storyIdSql } from '@muster/tenancy';
import { actorConditions } from './actors.ts';
import { type EventCursors } from './event-cursors.ts';
import { readStreamPage } from './streams.ts';
import { isVisibleSql, mayReadBudgetEventSql } from './visible.ts';

type ListActivityOperation = NotificationsRegistry['activity']['list'];

export const activityView = defineView('activity', 'e', [
  'id',
  'kind',
  'actor',
  'project_id',
  'subject',
  'data',
  'at',
]);

/**
 * Lists the activity in pages, newest first. For a named project or story, only events of budgets are checked: a
 * caller who may see the project or story may see all of its other events.
 */
export async function listActivity(
  db: Db,
  caller: Caller,
  params: ParamsOf<ListActivityOperation>,
  cursors: EventCursors,
): Promise<ResultOf<ListActivityOperation>> {
  const { projectId, storyId, actorId, kinds, since, limit, cursor } = params;
  // The narrowest stream is read backwards. The other conditions filter its entries.
  const filters: Part[][] = [];
  if (storyId !== undefined) filters.push([sql.part`e.story_id = ${storyIdSql(storyId)}`]);
  if (projectId !== undefined) filters.push([sql.part`e.project_id = ${projectIdSql(projectId)}`]);
  const isAnywhere = filters.length === 0;
  if (actorId !== undefined) filters.push(actorConditions(actorId));
  const [along = [sql.part`true`], ...rest] = filters;
  const where = rest.map((alternatives) => sql.part`(${sql.join(alternatives, ' or ')})`);
  if (kinds !== undefined) where.push(sql.part`e.kind = any (${kinds}::text[])`);
  if (isAnywhere) where.push(isVisibleSql(caller, sql.part`e.project_id`));
  where.push(mayReadBudgetEventSql(caller));

  const from = since === undefined ? undefined : sql.part`${since}::timestamptz`;
  return readStreamPage(
    db,
    {
      table: 'activity',
      streamConditions: along,
      filterConditions: where,
      fromTime: from,
      limit,
      cursor,
      cursors,
      largeColumnsBytes: sql.part`octet_length(q.data::text) + octet_length(q.subject::text)`,
    },
    activityView.shown,
  );
}
