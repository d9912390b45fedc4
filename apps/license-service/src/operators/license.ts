/** Licenses as operators see them, and how they name one. */
import { type Features } from '../features.ts';
import { hashOfKey, parseKey } from '../key/key.ts';
import { keyPrefixes } from './products.ts';
import { type Ask, Refused } from './transaction.ts';

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
  /** How many machines may hold it at once, and how many do. */
  readonly machineLimit: number;
  readonly machinesUsed: number;
  /** For how long a slot is lent each time; null: until the machine gives it up. */
  readonly leaseSeconds: number | null;
  /** Of its machine, where it is one. */
  readonly machineHint: string | null;
  readonly epoch: number;
  readonly activatedAt: string | null;
  /** Since when a machine holds it, the first of several; null where none does. */
  readonly boundAt: string | null;
  readonly lastSeenAt: string | null;
  readonly offlineUntil: string | null;
  readonly transfers: number;
  readonly transferLimit: number;
  /** What a certificate of now says: the plan's, and its own in place of them. */
  readonly features: Features;
  readonly ownFeatures: Features;
  readonly customerRef: string | null;
  readonly orderRef: string | null;
  readonly issuedAt: string;
}

/** By its id, which is no secret, or by its key as an operator typed it. */
export type LicenseRef = { readonly id: string } | { readonly key: string };

const columns = `id, product, key_hint as hint, plan, status, reason, duration_seconds as "durationSeconds",
  expires_at as "expiresAt", coalesce(expires_at <= clock_timestamp(), false) as "isExpired",
  machine_limit as "machineLimit", lease_seconds as "leaseSeconds", held.used as "machinesUsed", held.hint as "machineHint", epoch,
  activated_at as "activatedAt", held.since as "boundAt",
  last_seen_at as "lastSeenAt", offline_until as "offlineUntil", transfers, transfer_limit as "transferLimit",
  coalesce((select p.features from licenses.plans p where p.product = l.product and p.name = l.plan), '{}') || features as features,
  features as "ownFeatures", customer_ref as "customerRef", order_ref as "orderRef", issued_at as "issuedAt"`;

const tables = `licenses.licenses l cross join lateral (
  select count(*)::int as used, min(h.bound_at) as since, case when count(*) = 1 then min(h.machine_hint) end as hint
  from licenses.held_machines h where h.license_id = l.id) held`;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Where the license is found: column and value. Says where a typo is, never what was typed. */
async function placeOf(ask: Ask, ref: LicenseRef): Promise<[string, unknown]> {
  if ('id' in ref) {
    if (uuid.test(ref.id)) return ['id', ref.id];
    throw new Refused('license_id', 'this is no id of a license (keys come from standard input)');
  }
  const parsed = parseKey(ref.key, await keyPrefixes(ask));
  if (parsed.kind === 'key') return ['key_hash', hashOfKey(parsed.key)];
  const where =
    parsed.kind === 'typo'
      ? `: character ${parsed.typedPosition} looks wrong, perhaps ${parsed.perhaps}`
      : '';
  throw new Refused('invalid_license_key', `this is no license key${where}`);
}

const unknown = (): Refused => new Refused('not_found', 'no license has this key or id');

export async function getLicense(ask: Ask, ref: LicenseRef): Promise<License> {
  const [column, value] = await placeOf(ask, ref);
  const [license] = await ask<License>(`select ${columns} from ${tables} where ${column} = $1`, [value]);
  if (license === undefined) throw unknown();
  return license;
}

/** Nothing else changes it until the transaction is over. */
export async function lockLicense(ask: Ask, ref: LicenseRef): Promise<License> {
  const [column, value] = await placeOf(ask, ref);
  // Of its machines a statement that waits for the lock would read those of before.
  const [row] = await ask<{ id: string }>(
    `select id from licenses.licenses where ${column} = $1 /*guard: operators lock the license*/for no key update/*end*/`,
    [value],
  );
  if (row === undefined) throw unknown();
  return getLicense(ask, row);
}

export type LicenseState = 'unactivated' | 'active' | 'expired' | 'suspended' | 'revoked';

/** In one word, for lists. */
export const stateOf = ({ status, isExpired, boundAt }: License): LicenseState => {
  if (status !== 'active') return status;
  if (isExpired) return 'expired';
  return boundAt === null ? 'unactivated' : 'active';
};

export interface LicenseFilter {
  readonly product?: string | undefined;
  /** Of any of these. */
  readonly products?: readonly string[] | undefined;
  readonly plan?: string | undefined;
  readonly status?: string | undefined;
  readonly customerRef?: string | undefined;
  readonly orderRef?: string | undefined;
  /** The last symbols of its key. */
  readonly hint?: string | undefined;
  /** The id after which the page begins. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** The newest first. */
export async function listLicenses(ask: Ask, filter: LicenseFilter): Promise<License[]> {
  const values: unknown[] = [filter.limit];
  const where = (
    [
      ['product =', filter.product],
      ['product = any', filter.products],
      ['plan =', filter.plan],
      ['status =', filter.status],
      ['customer_ref =', filter.customerRef],
      ['order_ref =', filter.orderRef],
      ['key_hint =', filter.hint],
      ['id <', filter.after],
    ] as const
  ).flatMap(([test, value]) => (value === undefined ? [] : [`${test} ($${values.push(value)})`]));
  const condition = where.length === 0 ? '' : `where ${where.join(' and ')}`;
  return ask(`select ${columns} from ${tables} ${condition} order by id desc limit $1`, values);
}
