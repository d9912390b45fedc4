/** Licenses as operators see them, and references to licenses. */
import { type Part, sql } from '@muster/driver';
import { type LicenseFeatures } from '../features.ts';
import { type LicenseMeters } from '../meters.ts';
import { hashKey, parseKey } from '../key/key.ts';
import { listKeyPrefixes } from './products.ts';
import { type Db, RefusedError } from './transaction.ts';

export interface License {
  readonly id: string;
  readonly product: string;
  readonly hint: string;
  readonly plan: string;
  readonly status: 'active' | 'suspended' | 'revoked';
  readonly reason: string | null;
  readonly durationSeconds: number | null;
  readonly expiresAt: string | null;
  readonly isExpired: boolean;
  /** The number of machines that may hold the license at the same time. */
  readonly machineLimit: number;
  readonly machinesUsed: number;
  /** The duration of a slot lease; null if a machine keeps its slot until it releases it. */
  readonly leaseSeconds: number | null;
  /** The last characters of the machine ID, if exactly one machine holds the license. */
  readonly machineHint: string | null;
  readonly epoch: number;
  readonly activatedAt: string | null;
  /** The time since which the first machine of the license holds it; null if no machine does. */
  readonly boundAt: string | null;
  readonly lastSeenAt: string | null;
  readonly offlineUntil: string | null;
  readonly transfers: number;
  readonly transferLimit: number;
  /** The features that a new certificate gets: those of the plan, overridden by the license's own features. */
  readonly features: LicenseFeatures;
  readonly ownFeatures: LicenseFeatures;
  /** The usage meters: those of the plan, overridden by the license's own meters. */
  readonly meters: LicenseMeters;
  readonly ownMeters: LicenseMeters;
  readonly customerRef: string | null;
  readonly orderRef: string | null;
  readonly issuedAt: string;
}

/** A reference to a license by its ID, which is not secret, or by its key as an operator typed it. */
export type LicenseRef = { readonly id: string } | { readonly key: string };

const licenseColumnsSql = sql`id, product, key_hint as hint, plan, status, reason, duration_seconds as "durationSeconds",
  expires_at as "expiresAt", coalesce(expires_at <= clock_timestamp(), false) as "isExpired",
  machine_limit as "machineLimit", lease_seconds as "leaseSeconds", held.used as "machinesUsed", held.hint as "machineHint", epoch,
  activated_at as "activatedAt", held.since as "boundAt",
  last_seen_at as "lastSeenAt", offline_until as "offlineUntil", transfers, transfer_limit as "transferLimit",
  coalesce((select p.features from licenses.plans p where p.product = l.product and p.name = l.plan), '{}') || features as features,
  features as "ownFeatures",
  coalesce((select p.meters from licenses.plans p where p.product = l.product and p.name = l.plan), '{}') || meters as meters,
  meters as "ownMeters", customer_ref as "customerRef", order_ref as "orderRef", issued_at as "issuedAt"`;

const licenseTablesSql = sql`licenses.licenses l cross join lateral (
  select count(*)::int as used, min(h.bound_at) as since, case when count(*) = 1 then min(h.machine_hint) end as hint
  from licenses.held_machines h where h.license_id = l.id) held`;

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns the SQL condition that finds the license of a reference. The error for an invalid key gives the
 * place of a typo, never the typed key.
 */
async function licenseConditionSql(db: Db, ref: LicenseRef): Promise<Part> {
  if ('id' in ref) {
    if (uuidPattern.test(ref.id)) return sql`id = ${ref.id}`;
    throw new RefusedError('license_id', 'not a valid license id (keys are read from standard input)');
  }
  const parsed = parseKey(ref.key, await listKeyPrefixes(db));
  if (parsed.kind === 'key') return sql`key_hash = ${hashKey(parsed.key)}`;
  const where =
    parsed.kind === 'typo'
      ? `: character ${parsed.typedPosition} looks wrong, perhaps it is ${parsed.perhaps}`
      : '';
  throw new RefusedError('invalid_license_key', `not a valid license key${where}`);
}

const unknownLicenseError = (): RefusedError =>
  new RefusedError('not_found', 'no license has this key or id');

export async function getLicense(db: Db, ref: LicenseRef): Promise<License> {
  const license = await db.find(
    sql<License>`select ${licenseColumnsSql} from ${licenseTablesSql} where ${await licenseConditionSql(db, ref)}`,
  );
  if (license === undefined) throw unknownLicenseError();
  return license;
}

/** Locks a license until the end of the transaction and reads it. */
export async function lockLicense(db: Db, ref: LicenseRef): Promise<License> {
  // The machines are read by a second statement. A single statement that waits for the lock would see the
  // machines as they were when the statement started.
  const row = await db.find(
    sql<{ id: string }>`select id from licenses.licenses where ${await licenseConditionSql(db, ref)}
      /*guard: operators lock the license*/for no key update/*end*/`,
  );
  if (row === undefined) throw unknownLicenseError();
  return getLicense(db, row);
}

export type LicenseState = 'unactivated' | 'active' | 'expired' | 'suspended' | 'revoked';

/** Returns the state of a license in one word, for lists. */
export const stateOf = ({ status, isExpired, boundAt }: License): LicenseState => {
  if (status !== 'active') return status;
  if (isExpired) return 'expired';
  return boundAt === null ? 'unactivated' : 'active';
};

export interface LicenseFilter {
  readonly product?: string | undefined;
  /** Restricts the list to these products. */
  readonly products?: readonly string[] | undefined;
  readonly plan?: string | undefined;
  readonly status?: string | undefined;
  readonly customerRef?: string | undefined;
  readonly orderRef?: string | undefined;
  /** The last symbols of the license keys to list. */
  readonly hint?: string | undefined;
  /** The ID of the last license on the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Lists licenses, the newest first. */
export function listLicenses(db: Db, filter: LicenseFilter): Promise<License[]> {
  const { product, products, plan, status, customerRef, orderRef, hint, after, limit } = filter;
  return db.all(
    sql<License>`select ${licenseColumnsSql} from ${licenseTablesSql} where true
      ${product === undefined ? sql`` : sql`and product = ${product}`}
      ${products === undefined ? sql`` : sql`and product = any (${products})`}
      ${plan === undefined ? sql`` : sql`and plan = ${plan}`}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${customerRef === undefined ? sql`` : sql`and customer_ref = ${customerRef}`}
      ${orderRef === undefined ? sql`` : sql`and order_ref = ${orderRef}`}
      ${hint === undefined ? sql`` : sql`and key_hint = ${hint}`}
      ${after === undefined ? sql`` : sql`and id < ${after}`}
      order by id desc limit ${limit}`,
  );
}
