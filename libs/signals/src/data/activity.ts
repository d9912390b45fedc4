/** The activity: what happened, for everyone who may see where. */
import { type Db, type DB, Values } from '@muster/database';
import { type ActivityItem, type ParamsOf, type Registry, type ResultOf } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { ofActor } from './actors.ts';
import { walkDown } from './streams.ts';
import { isVisible } from './visible.ts';

type ActivityRow = Selectable<DB['activity']>;
type List = Registry['activity']['list'];

const toItem = (row: ActivityRow): ActivityItem => ({
  id: row.id,
  kind: row.kind,
  actor: row.actor,
  projectId: row.project_id,
  subject: row.subject,
  data: row.data,
  at: row.at,
});

/**
 * A page of what happened, newest first. A project or story that is named is not asked about here: whoever may see
 * it may see all of its stream.
 */
export async function listActivity(db: Db, caller: Caller, params: ParamsOf<List>): Promise<ResultOf<List>> {
  const values = new Values(caller.orgId);
  const { projectId, storyId, actorId, kinds, since, limit, cursor } = params;
  // The narrowest stream is walked down; what else was asked for is looked at on the way.
  const filters: string[][] = [];
  if (storyId !== undefined) filters.push([`e.story_id = ${values.storyId(storyId)}`]);
  if (projectId !== undefined) filters.push([`e.project_id = ${values.projectId(projectId)}`]);
  const isAnywhere = filters.length === 0;
  if (actorId !== undefined) filters.push(ofActor(values, actorId));
  const [along = ['true'], ...rest] = filters;
  const where = rest.map((alternatives) => `(${alternatives.join(' or ')})`);
  if (kinds !== undefined) where.push(`e.kind = any (${values.$(kinds)}::text[])`);
  if (isAnywhere) where.push(isVisible(values, caller, 'e.project_id'));

  const from = since === undefined ? undefined : values.instant(since);
  const { rows, nextCursor } = await walkDown(db, {
    table: 'activity',
    values,
    along,
    where,
    from,
    limit,
    cursor,
  });
  return { items: rows.map(toItem), nextCursor };
}
