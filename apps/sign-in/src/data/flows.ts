/**
 * Pending browser flows. A flow can be used once. It is stored under the hash of a secret in the browser's
 * cookie.
 */
import { randomBytes } from 'node:crypto';
import { type Db, sql } from '@muster/driver';
import { hashToken } from '@muster/runtime';

/** The kind of flow: a passkey challenge, or a redirect to an identity provider. */
export type FlowKind = 'passkey' | 'issuer';

/** Starts a flow and returns the secret for the browser's cookie. */
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

/** Ends a flow and returns its payload; undefined if it does not exist or has expired. */
export async function consumeFlow<Payload>(
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
