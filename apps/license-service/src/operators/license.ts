/** Licenses as operators see them, and how they name one. */
import { hashOfKey, parseKey } from '../key/key.ts';
import { type Ask, Refused } from './transaction.ts';

export interface License {
  readonly id: string;
  readonly hint: string;
  readonly plan: string;
  readonly status: 'active' | 'suspended' | 'revoked';
  readonly reason: string | null;
  readonly durationSeconds: number | null;
  readonly expiresAt: string | null;
  readonly isExpired: boolean;
  readonly machineHint: string | null;
  readonly epoch: number;
  readonly activatedAt: string | null;
  readonly boundAt: string | null;
  readonly lastSeenAt: string | null;
  readonly offlineUntil: string | null;
  readonly transfers: number;
  readonly transferLimit: number;
  readonly customerRef: string | null;
  readonly orderRef: string | null;
  readonly issuedAt: string;
}

/** By its id, which is no secret, or by its key as somebody gave it. */
export type LicenseRef = { readonly id: string } | { readonly key: string };

export const columns = `id, key_hint as hint, plan, status, reason, duration_seconds as "durationSeconds",
  expires_at as "expiresAt", coalesce(expires_at <= clock_timestamp(), false) as "isExpired",
  machine_hint as "machineHint", epoch, activated_at as "activatedAt", bound_at as "boundAt",
  last_seen_at as "lastSeenAt", offline_until as "offlineUntil", transfers, transfer_limit as "transferLimit",
  customer_ref as "customerRef", order_ref as "orderRef", issued_at as "issuedAt"`;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Where the license is found: column and value. Says where a typo is, never what was typed. */
function placeOf(ref: LicenseRef): [string, unknown] {
  if ('id' in ref) {
    if (uuid.test(ref.id)) return ['id', ref.id];
    throw new Refused('license_id', 'this is no id of a license (keys come from standard input)');
  }
  const parsed = parseKey(ref.key);
  if (parsed.kind === 'key') return ['key_hash', hashOfKey(parsed.key)];
  const where =
    parsed.kind === 'typo' ? `: character ${parsed.position} looks wrong, perhaps ${parsed.perhaps}` : '';
  throw new Refused('invalid_license_key', `this is no license key${where}`);
}

async function find(ask: Ask, ref: LicenseRef, lock: string): Promise<License> {
  const [column, value] = placeOf(ref);
  const [license] = await ask<License>(
    `select ${columns} from licenses.licenses where ${column} = $1 ${lock}`,
    [value],
  );
  if (license === undefined) throw new Refused('not_found', 'no license has this key or id');
  return license;
}

export const getLicense = (ask: Ask, ref: LicenseRef): Promise<License> => find(ask, ref, '');

/** Nothing else changes it until the transaction is over. */
export const lockLicense = (ask: Ask, ref: LicenseRef): Promise<License> =>
  find(ask, ref, 'for no key update');

/** In one word, for lists. */
export const stateOf = ({ status, isExpired, boundAt }: License): string => {
  if (status !== 'active') return status;
  if (isExpired) return 'expired';
  return boundAt === null ? 'unactivated' : 'active';
};

export interface LicenseFilter {
  readonly plan?: string | undefined;
  readonly status?: string | undefined;
  readonly customerRef?: string | undefined;
  readonly orderRef?: string | undefined;
  /** The id after which the page begins. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** The newest first. */
export async function listLicenses(ask: Ask, filter: LicenseFilter): Promise<License[]> {
  const values: unknown[] = [filter.limit];
  const where = (
    [
      ['plan =', filter.plan],
      ['status =', filter.status],
      ['customer_ref =', filter.customerRef],
      ['order_ref =', filter.orderRef],
      ['id <', filter.after],
    ] as const
  ).flatMap(([test, value]) => (value === undefined ? [] : [`${test} $${values.push(value)}`]));
  const condition = where.length === 0 ? '' : `where ${where.join(' and ')}`;
  return ask(`select ${columns} from licenses.licenses ${condition} order by id desc limit $1`, values);
}
