import { sql } from '@muster/driver';
import { generateSigningKey } from '../signing/signing-key.ts';
import { advisoryLockIds } from './locks.ts';
import { getProduct, defaultProduct } from './products.ts';
import { type Db, RefusedError } from './transaction.ts';

export interface SigningKey {
  readonly kid: string;
  readonly product: string;
  readonly createdAt: string;
  readonly activeFrom: string;
  readonly retiredAt: string | null;
  readonly publishedUntil: string | null;
  /**
   * The state of the key. `reserve` is an active key that is older than the current one. `gone` is a retired
   * key that is no longer published.
   */
  readonly state: 'next' | 'current' | 'reserve' | 'retired' | 'gone';
}

/** Locks changes of signing keys until the end of the transaction. */
const lockSigningKeysSql = sql`select pg_advisory_xact_lock(${advisoryLockIds.signingKeys})`;

/** Lists the signing keys of all products. */
export async function listSigningKeys(db: Db): Promise<SigningKey[]> {
  const rows = await db.all(sql<
    Omit<SigningKey, 'state'> & { readonly isDue: boolean; readonly isGone: boolean }
  >`select kid, product, created_at as "createdAt", active_from as "activeFrom", retired_at as "retiredAt",
       published_until as "publishedUntil",
       retired_at is null and active_from <= clock_timestamp()::timestamptz(3) as "isDue",
       coalesce(published_until <= clock_timestamp(), false) as "isGone"
     from licenses.signing_keys order by active_from desc, created_at desc`);
  const currentOf = (name: string) => rows.find((row) => row.isDue && row.product === name);
  return rows.map((row) => {
    const { isDue, isGone, ...key } = row;
    const state = isGone
      ? 'gone'
      : row.retiredAt !== null
        ? 'retired'
        : row === currentOf(row.product)
          ? 'current'
          : isDue
            ? 'reserve'
            : 'next';
    return { ...key, state };
  });
}

/** Creates a signing key. It is published immediately but used later, so that every client knows it by then. */
export async function createSigningKey(
  db: Db,
  seal: string | Buffer,
  { inSeconds, product = defaultProduct }: { inSeconds: number; product?: string | undefined },
): Promise<{ kid: string; activeFrom: string }> {
  await db.all(lockSigningKeysSql);
  await getProduct(db, product);
  const { kid, publicKey, sealedKey } = generateSigningKey(seal);
  const { activeFrom } = await db.one(
    sql<{ activeFrom: string }>`insert into licenses.signing_keys
        (kid, public_key, sealed_key, active_from, product)
      values (${kid}, ${publicKey}, ${sealedKey}, clock_timestamp() + make_interval(secs => ${inSeconds}), ${product})
      returning active_from as "activeFrom"`,
  );
  return { kid, activeFrom };
}

/** Retires a signing key. It stays published for `publishedSeconds`, while its signatures are still verified. */
export async function retireSigningKey(
  db: Db,
  { kid, publishedSeconds }: { kid: string; publishedSeconds: number },
): Promise<void> {
  await db.all(lockSigningKeysSql);
  const keys = await listSigningKeys(db);
  const key = keys.find((one) => one.kid === kid);
  if (key === undefined) throw new RefusedError('not_found', 'no signing key has this name');
  const others = keys.filter(
    (one) =>
      one.kid !== kid && one.product === key.product && (one.state === 'current' || one.state === 'reserve'),
  );
  if (others.length === 0 && key.state !== 'next')
    throw new RefusedError(
      'last_key',
      'there is no other signing key: create one first (signing-key new --in 0d)',
    );
  await db.all(sql`update licenses.signing_keys set retired_at = coalesce(retired_at, clock_timestamp()),
       published_until = least(published_until, clock_timestamp() + make_interval(secs => ${publishedSeconds}))
     where kid = ${kid}`);
}
