/** The audit log of allowed and denied calls, for admins. Postgres allows no service to change it. */
import { type Db, orgFilter, type Part, sql, defineView } from '@muster/driver';
import { type AuditEntry, type ParamsOf, type ResultOf } from '@muster/contract';
import { type NotificationsRegistry } from '@muster/notifications-registry';
import { actorConditions } from './actors.ts';
import { unencryptedCursors, readStreamPage } from './streams.ts';

type ListAuditOperation = NotificationsRegistry['audit']['list'];

const auditView = defineView('audit', 'e', [
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

/** The position of an entry. The time lets Postgres read only one partition. */
export interface AuditPosition {
  readonly seq: number;
  readonly at: string;
}

/** Reads the entries at these positions, by position. Entries that are no longer kept are missing. */
export async function readAuditEntries(
  db: Db,
  positions: readonly AuditPosition[],
): Promise<ReadonlyMap<number, AuditEntry>> {
  if (positions.length === 0) return new Map();
  const rows = await db.all(
    sql<Parameters<typeof auditView.shown>[0] & { readonly seq: number }>`select ${auditView.list}, e.seq
      from unnest(${positions.map(({ seq }) => seq)}::bigint[], ${positions.map(({ at }) => at)}::timestamptz[]) as p (seq, at)
      join audit e on ${orgFilter('e')} and e.seq = p.seq and e.at = p.at`,
  );
  return new Map(rows.map((row) => [row.seq, auditView.shown(row)]));
}

/** Lists the audit log in pages, newest first. */
export async function listAudit(
  db: Db,
  params: ParamsOf<ListAuditOperation>,
): Promise<ResultOf<ListAuditOperation>> {
  const { actorId, operation, outcome, limit, cursor } = params;
  // The narrowest stream is read backwards. The other conditions filter its entries.
  const filters: Part[][] = [];
  if (actorId !== undefined) filters.push(actorConditions(actorId));
  if (operation !== undefined) filters.push([sql.part`e.operation = ${operation}`]);
  // The value is a literal, so that Postgres can use the partial index on denied entries.
  if (outcome !== undefined)
    filters.push([outcome === 'denied' ? sql.part`e.outcome = 'denied'` : sql.part`e.outcome = 'allowed'`]);
  const [along = [sql.part`true`], ...rest] = filters;
  const where = rest.map((alternatives) => sql.part`(${sql.join(alternatives, ' or ')})`);

  const from = params.from === undefined ? undefined : sql.part`${params.from}::timestamptz`;
  const to = params.to === undefined ? undefined : sql.part`${params.to}::timestamptz`;
  return readStreamPage(
    db,
    {
      table: 'audit',
      streamConditions: along,
      filterConditions: where,
      fromTime: from,
      toTime: to,
      limit,
      cursor,
      cursors: unencryptedCursors,
    },
    auditView.shown,
  );
}
