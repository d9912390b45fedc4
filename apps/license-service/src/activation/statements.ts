/**
 * The statements behind activation, one round trip each. A statement locks the license before it reads the slots.
 * Two separate statements, or a count of slots at the time of the lock, would let several machines win the same slot.
 */
import { type Pool, type Query, sql } from '@muster/driver';
import { runQuery, runSharedWrite, runSharedRead } from '../database.ts';
import { type LicenseFeatures } from '../features.ts';
import { type UsageResult } from '../usage/records.ts';
import { type Db } from '../operators/transaction.ts';

/** The state of a license for the calling machine; the value of the header License-State. */
export type MachineLicenseState =
  | 'unactivated'
  | 'active'
  | 'other_machine'
  | 'expired'
  | 'suspended'
  | 'revoked';

export interface LicenseForMachine {
  readonly id: string;
  readonly plan: string;
  readonly state: MachineLicenseState;
  /** True if this machine holds a slot of the license, whatever the license's state. */
  readonly holder: boolean;
  /**
   * The end of the license; null if it never ends. Before the first activation it is the end that an
   * activation now would set.
   */
  readonly ends: string | null;
  /** The number of machines that hold the license after the call. */
  readonly used: number;
  readonly machineLimit: number;
  /** The duration of a slot lease; null if a machine keeps its slot until it releases it. */
  readonly leaseSeconds: number | null;
}

export interface GrantedActivation extends LicenseForMachine {
  /**
   * The current features of the plan, overridden by those of the license; null if the machine did not get the
   * license.
   */
  readonly features: LicenseFeatures | null;
  /** The start of the certificate's validity, in whole seconds since 1970; null if there is no certificate. */
  readonly issuedAt: number | null;
  readonly certifiedUntil: number | null;
}

/** The hashes by which the database finds a key and a machine. */
export interface ActivationClaim {
  readonly keyHash: Buffer;
  /** The hashes of the machine ID with the current pepper and, if there is one, with the previous pepper. */
  readonly machineHashes: readonly [Buffer, Buffer | null];
}

/** SQL for the state of a license at `now` for the calling machine. */
const machineStateSql = `
  case
    when status <> 'active' then status
    when expires_at <= now then 'expired'
    when own_slot is not null then 'active'
    when free_slot is null then 'other_machine'
    else 'unactivated'
  end as state,
  own_slot is not null as holder,
  coalesce(expires_at, now + make_interval(secs => duration_seconds)) as ends`;

/**
 * SQL that locks the license of key hash $1 and then determines its state. The slots are read after the lock is held,
 * by a volatile function, which sees rows committed during the wait. That function also reads `now`, because an earlier
 * time would admit a license that has expired during the wait.
 */
const lockAndDecideSql = `
  found as materialized (
    select * from licenses.licenses where key_hash = $1 /*guard: the license is locked*/for no key update/*end*/),
  decided as materialized (
    select found.*, slots.*, ${machineStateSql}
    from found cross join lateral licenses.slots_of(found.id, found.machine_limit, $2, $3) slots)`;

/** SQL that formats a time in event data like all answers do. Postgres formats times in JSON differently. */
const isoTimeSql = (timeSql: string): string =>
  `to_char(${timeSql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Builds SQL that counts refusals. There is one row per license, day and outcome, so that failed calls cannot
 * fill the disk.
 */
const countDenialSql = (
  sourceTable: 'decided' | 'outcome',
  outcome: 'state' | 'answer',
  grantedStates: string,
): string => `
  denied as (
    insert into licenses.license_denials (license_id, day, outcome, count, last_at)
    select id, (now at time zone 'UTC')::date, ${outcome}, 1, now from ${sourceTable} where ${outcome} not in (${grantedStates})
    on conflict (license_id, day, outcome)
      do update set count = license_denials.count + 1, last_at = excluded.last_at)`;

// SQL that checks a license without waiting for locks. It reads the slots with a subquery, because the
// function `slots_of` would make it twice as expensive.
const checkSql = `
  select id, plan, used, machine_limit as "machineLimit", lease_seconds as "leaseSeconds", ${machineStateSql}
  from licenses.licenses l cross join lateral (
    select clock_timestamp()::timestamptz(3) as now, count(*)::int as used, max(h.slot) filter (where h.machine_hash in ($2, $3)) as own_slot,
      case when count(*) < l.machine_limit then 1 end as free_slot
    from licenses.held_machines h where h.license_id = l.id) slots
  where key_hash = $1`;

// SQL that checks a license like `checkSql` and lists the newest versions that it may download.
const checkLatestSql = `
  select c.*, array(select r.version from licenses.entitled_releases r
    where r.license_id = c.id and r.channel = any ($4::text[])
      and ($5::text is null or r.artifacts @> jsonb_build_array(jsonb_build_object('platform', $5::text)))
    order by r.major desc, r.minor desc, r.patch desc, r.id desc limit 500) as versions
  from (${checkSql}) c`;

// Leased slots add no event after the first activation, so that frequent changes do not fill the trail.
const activateSql = `with ${lockAndDecideSql},
  terms as materialized (
    select decided.*, date_trunc('second', now) as certified_from,
      date_trunc('second', least(now + make_interval(secs => least($7::float8, lease_seconds)), ends)) as certified_until,
      coalesce((select p.features from licenses.plans p where p.product = decided.product and p.name = decided.plan), '{}') || decided.features
        as entitled
    from decided where state in ('active', 'unactivated')),
  held as materialized (
    select terms.*, licenses.hold_slot(id, coalesce(own_slot, free_slot), own_slot is null, $2, $3, $4, $5, now,
      certified_until) as slot
    from terms),
  granted as (
    update licenses.licenses l set
      activated_at = coalesce(l.activated_at, h.now), expires_at = h.ends, last_seen_at = h.now, updated_at = h.now,
      offline_until = greatest(l.offline_until, h.certified_until)
    from held h where l.id = h.id and h.slot is not null),
  noted as (
    insert into licenses.license_events (id, license_id, kind, actor, epoch, data, at)
    select $6, id, 'activated', 'machine', epoch, jsonb_build_object('machineHint', $5::text, 'expiresAt', ${isoTimeSql('ends')}), now
    from held where state = 'unactivated' and (lease_seconds is null or activated_at is null)),
  converted as (
    update licenses.trials t set converted_at = h.now, license_id = h.id
    from held h where t.product = h.product and t.machine_hash in ($2, $3) and t.converted_at is null),
  ${countDenialSql('decided', 'state', `'active', 'unactivated'`)}
  select d.id, d.plan, d.state, d.holder, d.ends, h.entitled as features,
    d.used + (d.state = 'unactivated')::int as used, d.machine_limit as "machineLimit",
    d.lease_seconds as "leaseSeconds",
    extract(epoch from h.certified_from)::float8 as "issuedAt",
    extract(epoch from h.certified_until)::float8 as "certifiedUntil"
  from decided d left join held h on h.id = d.id`;

export interface CountedUsage extends LicenseForMachine {
  /** The outcome of each event; null if the machine does not hold the license. */
  readonly usage: UsageResult | null;
}

export interface LicenseWithVersions extends LicenseForMachine {
  /** The versions that the license may download, at most 500. They are not sorted by pre-release. */
  readonly versions: readonly string[];
}

/** The outcome of a release: a state that refuses it, `released` (also when repeated), or too many transfers. */
export type ReleaseState = MachineLicenseState | 'released' | 'transfers_exhausted';

export interface ReleasedLicense extends Omit<LicenseForMachine, 'state'> {
  readonly state: ReleaseState;
  readonly transfersLeft: number;
  readonly offlineUntil: string | null;
}

const releaseSql = `with ${lockAndDecideSql},
  outcome as materialized (
    select decided.*,
      case
        when state = 'unactivated' and had_slot then 'released'
        when state = 'active' and lease_seconds is null and transfers >= transfer_limit then 'transfers_exhausted'
        else state
      end as answer
    from decided),
  given_up as materialized (
    select outcome.*, licenses.free_slot(id, own_slot, now) as slot from outcome where answer = 'active'),
  freed as (
    update licenses.licenses l set
      epoch = l.epoch + 1, transfers = l.transfers + (l.lease_seconds is null)::int, last_seen_at = g.now, updated_at = g.now
    from given_up g where l.id = g.id and g.slot is not null
    returning l.id, l.transfers, l.epoch),
  noted as (
    insert into licenses.license_events (id, license_id, kind, actor, epoch, data, at)
    select $4, o.id, 'released', 'machine', f.epoch,
      jsonb_build_object('machineHint', o.own_hint, 'transfers', f.transfers, 'offlineUntil', ${isoTimeSql('o.own_offline_until')}),
      o.now
    from outcome o join freed f on f.id = o.id where o.lease_seconds is null),
  ${countDenialSql('outcome', 'answer', `'active', 'released'`)}
  select o.id, o.plan, o.ends, o.holder, o.own_offline_until as "offlineUntil",
    o.used - (f.id is not null)::int as used, o.machine_limit as "machineLimit",
    o.lease_seconds as "leaseSeconds",
    case when f.id is not null then 'released' else o.answer end as state,
    greatest(o.transfer_limit - coalesce(f.transfers, o.transfers), 0) as "transfersLeft"
  from outcome o left join freed f on f.id = o.id`;

// Plan meters are overridden by those of the license. Only a machine that holds the license counts.
const countUsageSql = `with ${lockAndDecideSql},
  counted as materialized (
    select decided.*, licenses.count_usage(id, coalesce((select p.meters from licenses.plans p
      where p.product = decided.product and p.name = decided.plan), '{}') || decided.meters, $4::jsonb, now) as usage
    from decided where state = 'active'),
  outcome as materialized (
    select id, now, state from decided
    union select id, now, 'meter_exceeded' from counted where usage @? '$.events[*] ? (@.reason == "meter_exceeded")'),
  ${countDenialSql('outcome', 'state', `'active'`)}
  select d.id, d.plan, d.state, d.holder, d.ends, d.used, d.machine_limit as "machineLimit",
    d.lease_seconds as "leaseSeconds", c.usage
  from decided d left join counted c on c.id = d.id`;

/** Converts a statement with numbered parameters into a tagged one, as the driver expects it. */
function toTaggedQuery<Row>(sqlText: string): (values: readonly unknown[]) => Query<Row> {
  const words = sqlText.split(/\$\d/);
  const strings = Object.assign(words, { raw: words });
  const places = [...sqlText.matchAll(/\$(\d)/g)].map(([, number]) => Number(number) - 1);
  return (values) => sql<Row>(strings, ...places.map((place) => values[place]));
}

const activateQuery = toTaggedQuery<GrantedActivation>(activateSql);
const releaseQuery = toTaggedQuery<ReleasedLicense>(releaseSql);
const checkLatestQuery = toTaggedQuery<LicenseWithVersions>(checkLatestSql);
const countUsageQuery = toTaggedQuery<CountedUsage>(countUsageSql);

/** Reads the state of a license without changing it. Returns undefined if no license has this key. */
export const checkLicense = async (
  pool: Pool,
  { keyHash, machineHashes }: ActivationClaim,
): Promise<LicenseForMachine | undefined> =>
  (await runSharedRead<LicenseForMachine>(pool, { text: checkSql, values: [keyHash, ...machineHashes] }))[0];

/** Reads the state of a license and the versions of these channels, with a file for the platform, that it may download. */
export const checkLatest = async (
  pool: Pool,
  { keyHash, machineHashes }: ActivationClaim,
  { channels, platform }: { readonly channels: readonly string[]; readonly platform: string | null },
): Promise<LicenseWithVersions | undefined> =>
  (await runQuery(pool, checkLatestQuery([keyHash, ...machineHashes, channels, platform])))[0];

export interface ActivationInput extends ActivationClaim {
  readonly pepperId: string;
  readonly machineHint: string;
  readonly eventId: string;
  readonly certificateSeconds: number;
}

const queryValuesOf = (activation: ActivationInput): unknown[] => {
  const { keyHash, machineHashes, pepperId, machineHint, eventId, certificateSeconds } = activation;
  return [keyHash, ...machineHashes, pepperId, machineHint, eventId, certificateSeconds];
};

/**
 * Gives the machine a free slot, or keeps the slot that it has. Under concurrent calls, no more machines get
 * a slot than slots are free.
 */
export const activateLicense = async (
  pool: Pool,
  activation: ActivationInput,
): Promise<GrantedActivation | undefined> =>
  (
    await runSharedWrite<GrantedActivation>(pool, { text: activateSql, values: queryValuesOf(activation) })
  )[0];

/** Activates a license like `activateLicense`, within a transaction of the operators. */
export const activateInTransaction = (
  db: Db,
  activation: ActivationInput,
): Promise<GrantedActivation | undefined> => db.find(activateQuery(queryValuesOf(activation)));

/** Frees the slot of the machine within the transfer limit. Repeating the call returns the same result. */
export const releaseLicense = async (
  pool: Pool,
  { keyHash, machineHashes, eventId }: ActivationClaim & { readonly eventId: string },
): Promise<ReleasedLicense | undefined> => {
  const values = [keyHash, ...machineHashes, eventId];
  return (await runQuery(pool, releaseQuery(values)))[0];
};

/** Counts usage events, given as JSON, if the machine holds the license. A repeated event is not counted again. */
export const countUsage = async (
  pool: Pool,
  { keyHash, machineHashes }: ActivationClaim,
  events: string,
): Promise<CountedUsage | undefined> =>
  (await runQuery(pool, countUsageQuery([keyHash, ...machineHashes, events])))[0];
