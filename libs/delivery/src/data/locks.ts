/** Locks as stored rows. An expired lock does not count, even if its row still exists. */
import {
  CursorId,
  type Db,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  pageOfRows,
  type Query,
  type RowOf,
  sql,
  defineView,
  limitToPageBytes,
} from '@muster/driver';
import { type Lock, type Subject } from '@muster/contract';
import { type Caller } from '@muster/runtime';
import { z } from 'zod';

const locks = defineView(
  'locks',
  'k',
  [
    'id',
    'project_id',
    'resources',
    'mode',
    'holder',
    'run_id',
    'execution_id',
    'story_id',
    'reason',
    'fencing_token',
    'acquired_at',
    'expires_at',
  ],
  ['member_id', 'agent_id'],
);
export type LockRow = RowOf<typeof locks>;

export const lockColumnList = locks.list;

/**
 * The condition for live locks. It uses the time at which each row is read, and not the transaction's time.
 */
export const isLiveLockSql = sql.part`k.expires_at > clock_timestamp()`;

/**
 * The condition for expired locks of work, whose holder may still renew them. It uses the transaction's time,
 * which is the same in all of its statements.
 */
export const isExpiredExecutionLockSql = sql.part`(k.execution_id is not null and k.expires_at <= now())`;

export const toLock: (row: LockRow) => Lock = locks.shown;

/** Returns the lock as an event subject. */
export function lockSubject({ id, project_id: projectId, resources }: LockRow): Subject {
  const [first = '', ...more] = resources;
  const title = more.length === 0 ? first : `${first} and ${more.length} more`;
  return { type: 'lock', id, key: null, title, projectId };
}

/** Reads the existing locks among these IDs, with all columns. */
export const getLocks = (db: Db, ids: readonly string[]): Promise<LockRow[]> =>
  db.all(sql`select ${lockColumnList} from locks k where ${orgFilter('k')} and k.id = any (${ids}::uuid[])`);

/** Locks the row of a live lock. */
export function lockLockRow(db: Db, lockId: string): Promise<LockRow> {
  return db.get(
    sql<LockRow>`select ${lockColumnList} from locks k where ${orgFilter('k')} and k.id = ${lockId} and ${isLiveLockSql} for update`,
  );
}

export const deleteLock = (lockId: string): Query<unknown> =>
  sql`delete from locks where ${orgFilter()} and id = ${lockId}`;

export const deleteLocks = (lockIds: readonly string[]): Query<unknown> =>
  sql`delete from locks where ${orgFilter()} and /*guard: a grant takes out what it passes over*/id = any (${lockIds}::uuid[])/*end*/`;

/**
 * Extends the locks of a locked execution to at least this time, including expired ones. A grant to another
 * caller deletes the expired locks it conflicts with, so the remaining ones conflict with no other holder.
 */
export const extendLocks = (executionId: string, expiresAt: string): Query<unknown> =>
  sql`update locks set expires_at = /*guard: locks last as long as their lease*/${expiresAt}/*end*/
     where ${orgFilter()} and execution_id = ${executionId} and expires_at < ${expiresAt}::timestamptz`;

export const insertLock = (row: LockRow): Query<unknown> => sql.insert('locks', locks.names, row);

/** Returns the update of an extended lock. Holder, resources and token stay. */
export const updateLock = (row: LockRow): Query<unknown> =>
  sql`update locks set mode = ${row.mode}, reason = ${row.reason}, story_id = ${row.story_id}, execution_id = ${row.execution_id}, expires_at = ${row.expires_at}
     where ${orgFilter()} and id = ${row.id}`;

const LockCursor = z.tuple([CursorId]);

interface ListLocksParams {
  readonly projectId: IdOrSql;
  readonly mine: boolean;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Lists a page of live locks, oldest first. `isWanted` filters them. */
export async function listLocks(
  db: Db,
  caller: Caller,
  { projectId, mine, limit, cursor }: ListLocksParams,
  matchesFilter: ((row: LockRow) => boolean) | null,
): Promise<{ items: Lock[]; nextCursor: string | null }> {
  let afterId = decodeCursor(cursor, LockCursor)?.[0];
  const page = (batchSize: number) =>
    db.all(liveLocksQuery(caller, { projectId, mine, after: afterId, size: batchSize }));
  if (matchesFilter === null) return pageOfRows(await page(limit + 1), limit, ({ id }) => [id], toLock);
  const found: LockRow[] = [];
  while (found.length <= limit) {
    const rows = await page(filterBatchSize);
    // The loop itself reads the next rows, so the filtered rows need no sign that more rows follow.
    found.push(...rows.filter(matchesFilter).map((row) => ({ ...row, more_follow: false })));
    const last = rows.at(-1);
    if (rows.length < filterBatchSize && last?.more_follow !== true) break;
    afterId = last?.id;
  }
  return pageOfRows(found, limit, ({ id }) => [id], toLock);
}

/**
 * The number of locks read per statement if each lock has to be checked by `isWanted`. Almost no project has
 * more live locks.
 */
const filterBatchSize = 500;

function liveLocksQuery(
  caller: Caller,
  pageParams: {
    readonly projectId: IdOrSql;
    readonly mine: boolean;
    readonly after: string | undefined;
    readonly size: number;
  },
): Query<LockRow & { readonly more_follow: boolean }> {
  const conditions = [
    orgFilter('k'),
    sql.part`k.project_id = ${pageParams.projectId}`,
    isLiveLockSql,
    ...(pageParams.after === undefined ? [] : [sql.part`k.id > ${pageParams.after}::uuid`]),
    ...(pageParams.mine
      ? [
          sql.part`k.member_id = ${caller.memberId}::uuid and k.agent_id is not distinct from ${caller.agentId}::uuid`,
        ]
      : []),
  ];
  return sql`${limitToPageBytes(
    sql.part`select ${lockColumnList} from locks k where ${sql.join(conditions, ' and ')} order by k.id limit ${pageParams.size}`,
    sql.part`octet_length(q.resources::text)`,
    sql.part`q.id`,
  )}`;
}
