/** Deletes links after a day, expired flows, and sessions and OAuth records a day after their end. */
import { type Db, sql } from '@muster/driver';

export async function purgeExpired(db: Db): Promise<void> {
  await db.all(sql`delete from sign_in.sign_ins where created_at < now() - interval '1 day'`);
  await db.all(sql`delete from sign_in.flows where expires_at < now()`);
  await db.all(sql`delete from sign_in.sessions where ends_at < now() - interval '1 day'`);
  await db.all(sql`delete from sign_in.oauth_records where expires_at < now() - interval '1 day'`);
}
