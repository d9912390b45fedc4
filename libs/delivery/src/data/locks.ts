/** Locks as they are stored. Those past their time are none, whether or not their rows are still there. */
import { type Db, type DB, decodeCursor, pageOfRows, type Query, sqlQuery, Values } from '@muster/database';
import { type Lock, type Subject } from '@muster/registry';
import { type Caller, notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';

export type LockRow = Omit<Selectable<DB['locks']>, 'org_id'>;

const lockColumns = [
  'id',
  'project_id',
  'resources',
  'mode',
  'holder',
  'member_id',
  'agent_id',
  'run_id',
  'execution_id',
  'story_id',
  'reason',
  'fencing_token',
  'acquired_at',
  'expires_at',
] as const satisfies readonly (keyof LockRow)[];

export const lockList = lockColumns.map((column) => `k.${column}`).join(', ');

/** SQL for the locks that still are, by the time at which each row is looked at. */
export const isLive = 'k.expires_at > clock_timestamp()';

export const toLock = (row: LockRow): Lock => ({
  id: row.id,
  projectId: row.project_id,
  resources: row.resources,
  mode: row.mode,
  holder: row.holder,
  runId: row.run_id,
  executionId: row.execution_id,
  storyId: row.story_id,
  reason: row.reason,
  fencingToken: row.fencing_token,
  acquiredAt: row.acquired_at,
  expiresAt: row.expires_at,
});

/** The lock as the subject of what happened to it. */
export function aboutLock({ id, project_id: projectId, resources }: LockRow): Subject {
  const [first = '', ...more] = resources;
  const title = more.length === 0 ? first : `${first} and ${more.length} more`;
  return { type: 'lock', id, key: null, title, projectId };
}

/** Those of some locks, with all that is to be said of them. */
export const getLocks = (db: Db, orgId: string, ids: readonly string[]): Promise<LockRow[]> =>
  db.all(
    sqlQuery(`select ${lockList} from locks k where k.org_id = $1 and k.id = any ($2::uuid[])`, [orgId, ids]),
  );

/** Locks a lock that still is. */
export async function lockLock(db: Db, orgId: string, lockId: string): Promise<LockRow> {
  const row = await db.find(
    sqlQuery<LockRow>(
      `select ${lockList} from locks k where k.org_id = $1 and k.id = $2 and ${isLive} for update`,
      [orgId, lockId],
    ),
  );
  if (row === undefined) throw notFound();
  return row;
}

export const deleteLock = (orgId: string, lockId: string): Query<unknown> =>
  sqlQuery('delete from locks where org_id = $1 and id = $2', [orgId, lockId]);

export const insertLock = (orgId: string, row: LockRow): Query<unknown> =>
  sqlQuery(
    `insert into locks (org_id, ${lockColumns.join(', ')})
     values ($1, ${lockColumns.map((_, index) => `$${index + 2}`).join(', ')})`,
    [orgId, ...lockColumns.map((column) => row[column])],
  );

/** Of a lock that is extended; its holder, resources and token stay. */
export const setLock = (orgId: string, row: LockRow): Query<unknown> =>
  sqlQuery(
    `update locks set mode = $3, reason = $4, story_id = $5, execution_id = $6, expires_at = $7
     where org_id = $1 and id = $2`,
    [orgId, row.id, row.mode, row.reason, row.story_id, row.execution_id, row.expires_at],
  );

const Key = z.tuple([z.uuid()]);

interface Wanted {
  readonly projectRef: string;
  readonly mine: boolean;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A page of the live locks, oldest first; with `isWanted`, of those that it takes. */
export async function listLocks(
  db: Db,
  caller: Caller,
  { projectRef, mine, limit, cursor }: Wanted,
  isWanted: ((row: LockRow) => boolean) | null,
): Promise<{ items: Lock[]; nextCursor: string | null }> {
  const found: LockRow[] = [];
  const size = isWanted === null ? limit + 1 : manyAtOnce;
  let after = decodeCursor(cursor, Key)?.[0];
  while (found.length <= limit) {
    const rows = await db.all(liveLocks(caller, { projectRef, mine, after, size }));
    found.push(...(isWanted === null ? rows : rows.filter(isWanted)));
    if (rows.length < size) break;
    after = rows.at(-1)?.id;
  }
  return pageOfRows(found, limit, ({ id }) => [id], toLock);
}

/** Where each has to be looked at, they come in portions; as many as are live at once in nearly every project. */
const manyAtOnce = 500;

function liveLocks(
  caller: Caller,
  page: {
    readonly projectRef: string;
    readonly mine: boolean;
    readonly after: string | undefined;
    readonly size: number;
  },
): Query<LockRow> {
  const values = new Values(caller.orgId);
  const conditions = [
    `k.org_id = ${values.org}`,
    `k.project_id = ${values.projectId(page.projectRef)}`,
    isLive,
    ...(page.after === undefined ? [] : [`k.id > ${values.uuid(page.after)}`]),
    ...(page.mine
      ? [
          `k.member_id = ${values.uuid(caller.memberId)}`,
          `k.agent_id is not distinct from ${values.$(caller.agentId)}::uuid`,
        ]
      : []),
  ];
  return sqlQuery<LockRow>(
    `select ${lockList} from locks k where ${conditions.join(' and ')} order by k.id limit ${values.$(page.size)}`,
    values.list,
  );
}
