/** Changes of a license by operators. Each one locks the row, changes it and records an event in one transaction. */
import { newId, type Part, sql } from '@muster/driver';
import { type LicenseFeatures } from '../features.ts';
import { hashOfKey, hintOfKey, type FormattedKey, newKey } from '../key/key.ts';
import { getLicense, type License, type LicenseRef, lockLicense } from './license.ts';
import { type Term } from './plans.ts';
import { getProduct } from './products.ts';
import { latest, mostSeconds } from './spans.ts';
import { type Db, Refused } from './transaction.ts';

export type LicenseEventKind =
  | 'released'
  | 'transferred'
  | 'suspended'
  | 'resumed'
  | 'revoked'
  | 'renewed'
  | 'rotated'
  | 'certified'
  | 'entitled'
  | 'resized';

/** Records the event of a manual change, by an operator by default. */
export async function note(
  db: Db,
  license: License,
  kind: LicenseEventKind,
  data: object,
  actor: 'operator' | 'customer' = 'operator',
): Promise<void> {
  await db.all(
    sql`insert into licenses.license_events (id, license_id, kind, actor, epoch, data)
      values (${newId()}, ${license.id}, ${kind}, ${actor}, ${license.epoch}, ${data})`,
  );
}

export async function change(
  db: Db,
  license: License,
  kind: LicenseEventKind,
  { set, data = {}, actor }: { set: Part; data?: object; actor?: 'customer' },
): Promise<License> {
  await db.all(
    sql`update licenses.licenses set ${set}, updated_at = clock_timestamp() where id = ${license.id}`,
  );
  const after = await getLicense(db, { id: license.id });
  await note(db, after, kind, data, actor);
  return after;
}

/** Suspends a license. The next call is refused, but an issued certificate stays valid until it expires. */
export async function suspend(db: Db, ref: LicenseRef, reason: string | null): Promise<License> {
  const license = await lockLicense(db, ref);
  if (license.status === 'revoked') throw new Refused('revoked', 'this license was revoked for good');
  if (license.status === 'suspended') return license;
  return change(db, license, 'suspended', {
    set: sql`status = 'suspended', reason = ${reason}`,
    data: { reason },
  });
}

export async function resume(db: Db, ref: LicenseRef): Promise<License> {
  const license = await lockLicense(db, ref);
  if (license.status === 'revoked') throw new Refused('revoked', 'this license was revoked for good');
  if (license.status === 'active') return license;
  return change(db, license, 'resumed', { set: sql`status = 'active', reason = null` });
}

/** Revokes a license permanently. */
export async function revoke(db: Db, ref: LicenseRef, reason: string | null): Promise<License> {
  const license = await lockLicense(db, ref);
  if (license.status === 'revoked') return license;
  return change(db, license, 'revoked', {
    set: sql`status = 'revoked', reason = ${reason}`,
    data: { reason },
  });
}

/** Returns true if this license was already renewed for this order. */
const isRenewedFor = async (db: Db, { id }: License, order: string): Promise<boolean> =>
  (
    await db.all(sql`select from licenses.license_events
       where license_id = ${id} and kind = 'renewed' and data->>'order' = ${order} limit 1`)
  ).length > 0;

/**
 * Sets a new end of a license: a time, never, or an extension. The extension of an expired license starts now. Repeating
 * the call with the same order changes nothing.
 */
export async function renew(db: Db, ref: LicenseRef, term: Term, order?: string): Promise<License> {
  const license = await lockLicense(db, ref);
  if (license.status === 'revoked') throw new Refused('revoked', 'this license was revoked for good');
  if (order !== undefined && (await isRenewedFor(db, license, order))) return license;
  const data = { before: license.expiresAt, term, ...(order !== undefined && { order }) };
  if (term.kind !== 'for') {
    const expiresAt = term.kind === 'until' ? term.expiresAt : null;
    return change(db, license, 'renewed', {
      set: sql`expires_at = ${expiresAt}, duration_seconds = null`,
      data,
    });
  }
  if (license.expiresAt === null && license.durationSeconds === null) {
    throw new Refused('perpetual', 'this license never ends');
  }
  const isTooLong =
    license.expiresAt === null
      ? (license.durationSeconds ?? 0) + term.seconds > mostSeconds
      : Math.max(Date.parse(license.expiresAt), Date.now()) + term.seconds * 1_000 > latest;
  if (isTooLong)
    throw new Refused('too_long', 'it would last more than a hundred years; make it perpetual instead');
  const set =
    license.expiresAt === null
      ? sql`duration_seconds = duration_seconds + ${term.seconds}::bigint`
      : sql`expires_at = greatest(expires_at, clock_timestamp())
          + make_interval(secs => ${term.seconds}::float8)`;
  return change(db, license, 'renewed', { set, data });
}

/** Changes the license's own features. Machines get them with their next certificate. */
export async function entitle(
  db: Db,
  ref: LicenseRef,
  featuresFrom: (own: LicenseFeatures) => LicenseFeatures,
): Promise<License> {
  const license = await lockLicense(db, ref);
  const features = featuresFrom(license.ownFeatures);
  return change(db, license, 'entitled', {
    set: sql`features = ${features}`,
    data: { before: license.ownFeatures, features },
  });
}

/** Sets how many machines may hold a license at the same time. Current holders keep their slots, even above the limit. */
export async function resize(db: Db, ref: LicenseRef, machineLimit: number): Promise<License> {
  const license = await lockLicense(db, ref);
  if (license.machineLimit === machineLimit) return license;
  return change(db, license, 'resized', {
    set: sql`machine_limit = ${machineLimit}`,
    data: { before: license.machineLimit, machines: machineLimit },
  });
}

/** Replaces a leaked key by a new one. The old key is unknown from now on. */
export async function rotate(db: Db, ref: LicenseRef): Promise<{ license: License; key: FormattedKey }> {
  const before = await lockLicense(db, ref);
  if (before.status === 'revoked') throw new Refused('revoked', 'this license was revoked for good');
  const key = newKey((await getProduct(db, before.product)).keyPrefix);
  const license = await change(db, before, 'rotated', {
    set: sql`key_hash = ${hashOfKey(key)}, key_hint = ${hintOfKey(key)}`,
    data: { from: before.hint, to: hintOfKey(key) },
  });
  return { license, key };
}
