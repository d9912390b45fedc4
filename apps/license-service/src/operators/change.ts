/** What operators do to a license. Each is one transaction: the row is locked, changed, and the event written. */
import { newId } from '@muster/driver';
import { type Features } from '../features.ts';
import { hashOfKey, hintOfKey, type Key, newKey } from '../key/key.ts';
import { getLicense, type License, type LicenseRef, lockLicense } from './license.ts';
import { type Term } from './plans.ts';
import { getProduct } from './products.ts';
import { latest, mostSeconds } from './spans.ts';
import { type Ask, Refused } from './transaction.ts';

export type EventKind =
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

/** Says what was done by hand, by an operator unless said. */
export async function note(
  ask: Ask,
  license: License,
  kind: EventKind,
  data: object,
  actor: 'operator' | 'customer' = 'operator',
): Promise<void> {
  await ask(
    `insert into licenses.license_events (id, license_id, kind, actor, epoch, data) values ($1, $2, $3, $4, $5, $6)`,
    [newId(), license.id, kind, actor, license.epoch, data],
  );
}

export async function change(
  ask: Ask,
  license: License,
  kind: EventKind,
  {
    set,
    values,
    data = {},
    actor,
  }: { set: string; values: readonly unknown[]; data?: object; actor?: 'customer' },
): Promise<License> {
  await ask(`update licenses.licenses set ${set}, updated_at = clock_timestamp() where id = $1`, [
    license.id,
    ...values,
  ]);
  const after = await getLicense(ask, { id: license.id });
  await note(ask, after, kind, data, actor);
  return after;
}

/** Refused from the next call on; a certificate lives on until it ends. */
export async function suspend(ask: Ask, ref: LicenseRef, reason: string | null): Promise<License> {
  const license = await lockLicense(ask, ref);
  if (license.status === 'revoked') throw new Refused('revoked', 'this license is revoked for good');
  if (license.status === 'suspended') return license;
  return change(ask, license, 'suspended', {
    set: `status = 'suspended', reason = $2`,
    values: [reason],
    data: { reason },
  });
}

export async function resume(ask: Ask, ref: LicenseRef): Promise<License> {
  const license = await lockLicense(ask, ref);
  if (license.status === 'revoked') throw new Refused('revoked', 'this license is revoked for good');
  if (license.status === 'active') return license;
  return change(ask, license, 'resumed', { set: `status = 'active', reason = null`, values: [] });
}

/** For good. */
export async function revoke(ask: Ask, ref: LicenseRef, reason: string | null): Promise<License> {
  const license = await lockLicense(ask, ref);
  if (license.status === 'revoked') return license;
  return change(ask, license, 'revoked', {
    set: `status = 'revoked', reason = $2`,
    values: [reason],
    data: { reason },
  });
}

/** Whether this license was renewed for this order before. */
const isRenewedFor = async (ask: Ask, { id }: License, order: string): Promise<boolean> =>
  (
    await ask(
      `select from licenses.license_events
       where license_id = $1 and kind = 'renewed' and data->>'order' = $2 limit 1`,
      [id, order],
    )
  ).length > 0;

/**
 * Another end: a day, never, or so much longer. What has ended begins anew at this moment. The same order again changes
 * nothing.
 */
export async function renew(ask: Ask, ref: LicenseRef, term: Term, order?: string): Promise<License> {
  const license = await lockLicense(ask, ref);
  if (license.status === 'revoked') throw new Refused('revoked', 'this license is revoked for good');
  if (order !== undefined && (await isRenewedFor(ask, license, order))) return license;
  const data = { before: license.expiresAt, term, ...(order !== undefined && { order }) };
  if (term.kind !== 'for') {
    const expiresAt = term.kind === 'until' ? term.expiresAt : null;
    return change(ask, license, 'renewed', {
      set: 'expires_at = $2, duration_seconds = null',
      values: [expiresAt],
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
    throw new Refused('too_long', 'it would last more than a hundred years: let it last for ever instead');
  const set =
    license.expiresAt === null
      ? 'duration_seconds = duration_seconds + $2::bigint'
      : 'expires_at = greatest(expires_at, clock_timestamp()) + make_interval(secs => $2::float8)';
  return change(ask, license, 'renewed', { set, values: [term.seconds], data });
}

/** Other features of its own. Machines have them with their next certificate. */
export async function entitle(
  ask: Ask,
  ref: LicenseRef,
  featuresFrom: (own: Features) => Features,
): Promise<License> {
  const license = await lockLicense(ask, ref);
  const features = featuresFrom(license.ownFeatures);
  return change(ask, license, 'entitled', {
    set: 'features = $2',
    values: [features],
    data: { before: license.ownFeatures, features },
  });
}

/** So many machines may hold it at once. Those that hold it go on, also where they are more by now. */
export async function resize(ask: Ask, ref: LicenseRef, machineLimit: number): Promise<License> {
  const license = await lockLicense(ask, ref);
  if (license.machineLimit === machineLimit) return license;
  return change(ask, license, 'resized', {
    set: 'machine_limit = $2',
    values: [machineLimit],
    data: { before: license.machineLimit, machines: machineLimit },
  });
}

/** Another key in place of the one that got about; the old one is unknown from now on. */
export async function rotate(ask: Ask, ref: LicenseRef): Promise<{ license: License; key: Key }> {
  const before = await lockLicense(ask, ref);
  if (before.status === 'revoked') throw new Refused('revoked', 'this license is revoked for good');
  const key = newKey((await getProduct(ask, before.product)).keyPrefix);
  const license = await change(ask, before, 'rotated', {
    set: 'key_hash = $2, key_hint = $3',
    values: [hashOfKey(key), hintOfKey(key)],
    data: { from: before.hint, to: hintOfKey(key) },
  });
  return { license, key };
}
