/** What browsers are in the middle of: kept here under the hash of what a browser keeps in a cookie, and good once. */
import { randomBytes } from 'node:crypto';
import { type Db, sql } from '@muster/driver';
import { hashToken } from '@muster/runtime';

/** The challenge of a passkey, or the way to an issuer and back. */
export type FlowKind = 'passkey' | 'issuer';

/** Begins one; answers what the browser keeps. */
export async function beginFlow(
  db: Db,
  { kind, payload, minutes }: { readonly kind: FlowKind; readonly payload: object; readonly minutes: number },
): Promise<string> {
  const nonce = randomBytes(32).toString('base64url');
  await db.all(
    sql`insert into sign_in.flows (hash, kind, payload, expires_at)
        values (${hashToken(nonce)}, ${kind}, ${JSON.stringify(payload)}::jsonb, now() + make_interval(mins => ${minutes}))`,
  );
  return nonce;
}

/** Ends one, as it was begun; undefined where there is none, or it is over. */
export async function endFlow<Payload>(
  db: Db,
  kind: FlowKind,
  nonce: string | undefined,
): Promise<Payload | undefined> {
  if (nonce === undefined) return undefined;
  const row = await db.find(
    sql<{ payload: unknown }>`delete from sign_in.flows
       where hash = ${hashToken(nonce)} and kind = ${kind} and expires_at > now() returning payload`,
  );
  return row?.payload as Payload | undefined;
}
