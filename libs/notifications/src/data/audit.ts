/** The audit trail: what was done and what was refused, for the admins. Postgres lets no service change it. */
import { type Db, type Part, sql, view } from '@muster/driver';
import { type ParamsOf, type Registry, type ResultOf } from '@muster/registry';
import { ofActor } from './actors.ts';
import { bareCursors, walkDown } from './streams.ts';

type List = Registry['audit']['list'];

const entries = view('audit', 'e', [
  'id',
  'at',
  'actor',
  'token_id',
  'operation',
  'target',
  'outcome',
  'reason',
  'ip',
  'user_agent',
  'request_id',
  'details',
]);

/** A page of the trail, newest first. */
export async function listAudit(db: Db, params: ParamsOf<List>): Promise<ResultOf<List>> {
  const { actorId, operation, outcome, limit, cursor } = params;
  // The narrowest stream is walked down; what else was asked for is looked at on the way.
  const filters: Part[][] = [];
  if (actorId !== undefined) filters.push(ofActor(actorId));
  if (operation !== undefined) filters.push([sql.part`e.operation = ${operation}`]);
  // Not as a value, so that Postgres sees that the index of the denied ones serves.
  if (outcome !== undefined)
    filters.push([outcome === 'denied' ? sql.part`e.outcome = 'denied'` : sql.part`e.outcome = 'allowed'`]);
  const [along = [sql.part`true`], ...rest] = filters;
  const where = rest.map((alternatives) => sql.part`(${sql.join(alternatives, ' or ')})`);

  const from = params.from === undefined ? undefined : sql.part`${params.from}::timestamptz`;
  const to = params.to === undefined ? undefined : sql.part`${params.to}::timestamptz`;
  return walkDown(
    db,
    {
      table: 'audit',
      along,
      where,
      from,
      to,
      limit,
      cursor,
      cursors: bareCursors,
    },
    entries.shown,
  );
}
