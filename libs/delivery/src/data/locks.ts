/** Locks as they are stored. Those past their time are none, whether or not their rows are still there. */
import {
  CursorId,
  type Db,
  decodeCursor,
  type Id,
  of,
  pageOfRows,
  type Query,
  type RowOf,
  sql,
  view,
  withinPage,
} from '@muster/driver';
import { type Lock, type Subject } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { z } from 'zod';

const locks = view(
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

export const lockList = locks.list;

/** SQL for the locks that still are, by the time at which each row is looked at. */
export const isLive = sql.part`k.expires_at > clock_timestamp()`;

/**
 * SQL for the locks that are past their time and go with work: the holder of the work may go on with them. By the time
 * of the transaction, which all of its statements have in common.
 */
export const isLapsed = sql.part`(k.execution_id is not null and k.expires_at <= now())`;

export const toLock: (row: LockRow) => Lock = locks.shown;

/** The lock as the subject of what happened to it. */
export function aboutLock({ id, project_id: projectId, resources }: LockRow): Subject {
  const [first = '', ...more] = resources;
  const title = more.length === 0 ? first : `${first} and ${more.length} more`;
  return { type: 'lock', id, key: null, title, projectId };
}

/** Those of some locks, with all that is to be said of them. */
export const getLocks = (db: Db, ids: readonly string[]): Promise<LockRow[]> =>
  db.all(sql`select ${lockList} from locks k where ${of('k')} and k.id = any (${ids}::uuid[])`);

/** Locks a lock that still is. */
export function lockLock(db: Db, lockId: string): Promise<LockRow> {
  return db.get(
    sql<LockRow>`select ${lockList} from locks k where ${of('k')} and k.id = ${lockId} and ${isLive} for update`,
  );
}

export const deleteLock = (lockId: string): Query<unknown> =>
  sql`delete from locks where ${of()} and id = ${lockId}`;

export const deleteLocks = (lockIds: readonly string[]): Query<unknown> =>
  sql`delete from locks where ${of()} and /*guard: a grant takes out what it passes over*/id = any (${lockIds}::uuid[])/*end*/`;

/**
 * The locks of a locked execution last until then at least, also those that lapsed: a grant to another caller takes out
 * what it passes over, so that no other holder has what is still there.
 */
export const keepLocks = (executionId: string, until: string): Query<unknown> =>
  sql`update locks set expires_at = /*guard: locks last as long as their lease*/${until}/*end*/
     where ${of()} and execution_id = ${executionId} and expires_at < ${until}::timestamptz`;

export const insertLock = (row: LockRow): Query<unknown> => sql.insert('locks', locks.names, row);

/** Of a lock that is extended; its holder, resources and token stay. */
export const setLock = (row: LockRow): Query<unknown> =>
  sql`update locks set mode = ${row.mode}, reason = ${row.reason}, story_id = ${row.story_id}, execution_id = ${row.execution_id}, expires_at = ${row.expires_at}
     where ${of()} and id = ${row.id}`;

const Key = z.tuple([CursorId]);

interface Wanted {
  readonly projectId: Id;
  readonly mine: boolean;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A page of the live locks, oldest first; with `isWanted`, of those that it takes. */
export async function listLocks(
  db: Db,
  caller: Caller,
  { projectId, mine, limit, cursor }: Wanted,
  isWanted: ((row: LockRow) => boolean) | null,
): Promise<{ items: Lock[]; nextCursor: string | null }> {
  let after = decodeCursor(cursor, Key)?.[0];
  const page = (size: number) => db.all(liveLocks(caller, { projectId, mine, after, size }));
  if (isWanted === null) return pageOfRows(await page(limit + 1), limit, ({ id }) => [id], toLock);
  const found: LockRow[] = [];
  while (found.length <= limit) {
    const rows = await page(manyAtOnce);
    // What follows them is looked at here, too.
    found.push(...rows.filter(isWanted).map((row) => ({ ...row, more_follow: false })));
    const last = rows.at(-1);
    if (rows.length < manyAtOnce && last?.more_follow !== true) break;
    after = last?.id;
  }
  return pageOfRows(found, limit, ({ id }) => [id], toLock);
}

/** Where each has to be looked at, they come in portions; as many as are live at once in nearly every project. */
const manyAtOnce = 500;

function liveLocks(
  caller: Caller,
  page: {
    readonly projectId: Id;
    readonly mine: boolean;
    readonly after: string | undefined;
    readonly size: number;
  },
): Query<LockRow & { readonly more_follow: boolean }> {
  const conditions = [
    of('k'),
    sql.part`k.project_id = ${page.projectId}`,
    isLive,
    ...(page.after === undefined ? [] : [sql.part`k.id > ${page.after}::uuid`]),
    ...(page.mine
      ? [
          sql.part`k.member_id = ${caller.memberId}::uuid and k.agent_id is not distinct from ${caller.agentId}::uuid`,
        ]
      : []),
  ];
  return sql`${withinPage(
    sql.part`select ${lockList} from locks k where ${sql.join(conditions, ' and ')} order by k.id limit ${page.size}`,
    sql.part`octet_length(q.resources::text)`,
    sql.part`q.id`,
  )}`;
}
