/** Rows of oauth_records, identified by the hash of the secret that a client or browser holds. */
import { type Db, sql } from '@muster/driver';
import { isCleanText } from '@muster/contract';
import { hashToken } from '@muster/runtime';
import { type AdapterPayload, errors } from 'oidc-provider';

export interface RecordRow {
  readonly payload: AdapterPayload;
  readonly consumed_at: string | null;
}

export interface NewRecord {
  readonly model: string;
  readonly secret: string;
  /** The payload without the secret. */
  readonly payload: AdapterPayload;
  /** Lifetime in seconds; null for no expiry. */
  readonly lifetimeSeconds: number | null;
}

/** Serializes a payload for Postgres. Throws a client error for text that Postgres cannot store. */
const serializePayload = (payload: AdapterPayload): string =>
  JSON.stringify(payload, (_key, value: unknown) => {
    if (typeof value === 'string' && !isCleanText(value))
      throw new errors.InvalidRequest('a parameter has NUL or a lone surrogate');
    return value;
  });

export async function storeRecord(
  db: Db,
  { model, secret, payload, lifetimeSeconds }: NewRecord,
): Promise<void> {
  const {
    grantId = null,
    uid = null,
    userCode = null,
  } = payload as {
    grantId?: string;
    uid?: string;
    userCode?: string;
  };
  await db.all(
    sql`insert into sign_in.oauth_records (model, id_hash, grant_id, uid, user_code, payload, expires_at)
       values (${model}, ${hashToken(secret)}, ${grantId}, ${uid}, ${userCode}, ${serializePayload(payload)}::jsonb,
         now() + make_interval(secs => ${lifetimeSeconds}))
       on conflict (model, id_hash) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
  );
}

export const findRecord = (db: Db, model: string, secret: string): Promise<RecordRow | undefined> =>
  db.find(
    sql<{
      payload: AdapterPayload;
      consumed_at: string | null;
    }>`select payload, consumed_at from sign_in.oauth_records where model = ${model} and id_hash = ${hashToken(secret)}`,
  );

/** Finds a self-registered client that has not expired. */
export const findRegistration = (
  db: Db,
  clientId: string,
): Promise<{ payload: AdapterPayload } | undefined> =>
  db.find(
    sql<{
      payload: AdapterPayload;
    }>`select payload from sign_in.oauth_records where model = 'Client' and id_hash = ${hashToken(clientId)} and expires_at > now()`,
  );

/** Extends the lifetime of a self-registered client to at least this many days. */
export async function extendRegistration(db: Db, clientId: string, days: number): Promise<void> {
  await db.all(
    sql`update sign_in.oauth_records set expires_at = greatest(expires_at, now() + make_interval(days => ${days}))
       where model = 'Client' and id_hash = ${hashToken(clientId)}`,
  );
}

/** Marks a record as consumed; returns false if it already was. */
export async function consumeRecord(db: Db, model: string, secret: string): Promise<boolean> {
  const row = await db.find(
    sql<{ model: string }>`update sign_in.oauth_records set consumed_at = now()
       where model = ${model} and id_hash = ${hashToken(secret)} and consumed_at is null returning model`,
  );
  return row !== undefined;
}

export async function removeRecord(db: Db, model: string, secret: string): Promise<void> {
  await db.all(
    sql`delete from sign_in.oauth_records where model = ${model} and id_hash = ${hashToken(secret)}`,
  );
}

export async function removeRecordsOfGrant(db: Db, model: string, grantId: string): Promise<void> {
  await db.all(sql`delete from sign_in.oauth_records where model = ${model} and grant_id = ${grantId}`);
}
