/** Changes of a license by operators. Each one locks the row, changes it and records an event in one transaction. */
import { newId, type Part, sql } from '@muster/driver';
import { type LicenseFeatures } from '../features.ts';
import { hashKey, keyHintOf, type FormattedKey, generateKey } from '../key/key.ts';
import { getLicense, type License, type LicenseRef, lockLicense } from './license.ts';
import { type Term } from './plans.ts';
import { getProduct } from './products.ts';
import { latestTimeMillis, maxTermSeconds } from './spans.ts';
import { type Db, RefusedError } from './transaction.ts';

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
  | 'resized'
  | 'usage_reset';

/** Records the event of a manual change, by an operator by default. */
export async function recordEvent(
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

export async function updateLicense(
  db: Db,
  license: License,
  kind: LicenseEventKind,
  { set, data = {}, actor }: { set: Part; data?: object; actor?: 'customer' },
): Promise<License> {
  await db.all(
    sql`update licenses.licenses set ${set}, updated_at = clock_timestamp() where id = ${license.id}`,
  );
  const after = await getLicense(db, { id: license.id });
  await recordEvent(db, after, kind, data, actor);
  return after;
}

/** Suspends a license. The next call is refused, but an issued certificate stays valid until it expires. */
export async function suspendLicense(db: Db, ref: LicenseRef, reason: string | null): Promise<License> {
  const license = await lockLicense(db, ref);
  if (license.status === 'revoked') throw new RefusedError('revoked', 'this license was revoked for good');
  if (license.status === 'suspended') return license;
  return updateLicense(db, license, 'suspended', {
    set: sql`status = 'suspended', reason = ${reason}`,
    data: { reason },
  });
}

export async function resumeLicense(db: Db, ref: LicenseRef): Promise<License> {
  const license = await lockLicense(db, ref);
  if (license.status === 'revoked') throw new RefusedError('revoked', 'this license was revoked for good');
  if (license.status === 'active') return license;
  return updateLicense(db, license, 'resumed', { set: sql`status = 'active', reason = null` });
}

/** Revokes a license permanently. */
export async function revokeLicense(db: Db, ref: LicenseRef, reason: string | null): Promise<License> {
  const license = await lockLicense(db, ref);
  if (license.status === 'revoked') return license;
  return updateLicense(db, license, 'revoked', {
    set: sql`status = 'revoked', reason = ${reason}`,
    data: { reason },
  });
}

/** Returns true if this license was already renewed for this order. */
const wasRenewedForOrder = async (db: Db, { id }: License, order: string): Promise<boolean> =>
  (
    await db.all(sql`select from licenses.license_events
       where license_id = ${id} and kind = 'renewed' and data->>'order' = ${order} limit 1`)
  ).length > 0;

/**
 * Sets a new end of a license: a time, never, or an extension. The extension of an expired license starts now. Repeating
 * the call with the same order changes nothing.
 */
export async function renewLicense(db: Db, ref: LicenseRef, term: Term, order?: string): Promise<License> {
  const license = await lockLicense(db, ref);
  if (license.status === 'revoked') throw new RefusedError('revoked', 'this license was revoked for good');
  if (order !== undefined && (await wasRenewedForOrder(db, license, order))) return license;
  const data = { before: license.expiresAt, term, ...(order !== undefined && { order }) };
  if (term.kind !== 'for') {
    const expiresAt = term.kind === 'until' ? term.expiresAt : null;
    return updateLicense(db, license, 'renewed', {
      set: sql`expires_at = ${expiresAt}, duration_seconds = null`,
      data,
    });
  }
  if (license.expiresAt === null && license.durationSeconds === null)
    throw new RefusedError('perpetual', 'this license never ends');
  const isTooLong =
    license.expiresAt === null
      ? (license.durationSeconds ?? 0) + term.seconds > maxTermSeconds
      : Math.max(Date.parse(license.expiresAt), Date.now()) + term.seconds * 1_000 > latestTimeMillis;
  if (isTooLong)
    throw new RefusedError('too_long', 'it would last more than a hundred years; make it perpetual instead');
  const set =
    license.expiresAt === null
      ? sql`duration_seconds = duration_seconds + ${term.seconds}::bigint`
      : sql`expires_at = greatest(expires_at, clock_timestamp())
          + make_interval(secs => ${term.seconds}::float8)`;
  return updateLicense(db, license, 'renewed', { set, data });
}

/** Changes the license's own features. Machines get them with their next certificate. */
export async function setFeatures(
  db: Db,
  ref: LicenseRef,
  featuresOf: (own: LicenseFeatures) => LicenseFeatures,
): Promise<License> {
  const license = await lockLicense(db, ref);
  const features = featuresOf(license.ownFeatures);
  return updateLicense(db, license, 'entitled', {
    set: sql`features = ${features}`,
    data: { before: license.ownFeatures, features },
  });
}

/** Sets how many machines may hold a license at the same time. Current holders keep their slots, even above the limit. */
export async function setMachineLimit(db: Db, ref: LicenseRef, machineLimit: number): Promise<License> {
  const license = await lockLicense(db, ref);
  if (license.machineLimit === machineLimit) return license;
  return updateLicense(db, license, 'resized', {
    set: sql`machine_limit = ${machineLimit}`,
    data: { before: license.machineLimit, machines: machineLimit },
  });
}

/** Replaces a leaked key by a new one. The old key is unknown from now on. */
export async function replaceKey(db: Db, ref: LicenseRef): Promise<{ license: License; key: FormattedKey }> {
  const before = await lockLicense(db, ref);
  if (before.status === 'revoked') throw new RefusedError('revoked', 'this license was revoked for good');
  const key = generateKey((await getProduct(db, before.product)).keyPrefix);
  const license = await updateLicense(db, before, 'rotated', {
    set: sql`key_hash = ${hashKey(key)}, key_hint = ${keyHintOf(key)}`,
    data: { from: before.hint, to: keyHintOf(key) },
  });
  return { license, key };
}
