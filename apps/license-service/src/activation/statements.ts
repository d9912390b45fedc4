/**
 * The statements behind activation, each one round trip. What decides is locked first and read then: two separate
 * statements, or a count of another table beside the lock, let several machines win the same key.
 */
import { type Pool, type Query, sql } from '@muster/driver';
import { ask, changeOne, look } from '../database.ts';
import { type Features } from '../features.ts';
import { type Db } from '../operators/transaction.ts';

/** What a license is to a caller who asks with a key and a machine, in the words of the header License-State. */
export type State = 'unactivated' | 'active' | 'other_machine' | 'expired' | 'suspended' | 'revoked';

export interface Seen {
  readonly id: string;
  readonly plan: string;
  readonly state: State;
  /** Whether this machine holds the key, whatever the state. */
  readonly holder: boolean;
  /** For a license whose time has not begun, the end that an activation now would give; null: never. */
  readonly ends: string | null;
  /** How many machines hold it from now on, and how many may. */
  readonly used: number;
  readonly machineLimit: number;
  /** For how long a slot is lent each time; null: until the machine gives it up. */
  readonly leaseSeconds: number | null;
}

export interface Granted extends Seen {
  /** Those of the plan as they are now, and the license's own before them; null where nothing is granted. */
  readonly features: Features | null;
  /** Of the certificate that goes with it, in whole seconds since 1970; null where there is none. */
  readonly issuedAt: number | null;
  readonly certifiedUntil: number | null;
}

/** A key and a machine, as they are stored. */
export interface Claim {
  readonly keyHash: Buffer;
  /** By the pepper of now and by the one before. */
  readonly machineHashes: readonly [Buffer, Buffer | null];
}

/** What a license is at `now` to that machine. */
const verdict = `
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
 * The license of key hash $1, locked and then decided upon. Its slots are read after the row is there, hence after a
 * lock was waited for, and by a volatile function, which sees what was committed meanwhile; so is `now`: a time from
 * before would let in what has expired.
 */
const decided = `
  found as materialized (
    select * from licenses.licenses where key_hash = $1 /*guard: the license is locked*/for no key update/*end*/),
  decided as materialized (
    select found.*, slots.*, ${verdict}
    from found cross join lateral licenses.slots_of(found.id, found.machine_limit, $2, $3) slots)`;

/** A time in the data of an event as all answers write it; JSON of Postgres would write another form. */
const iso = (time: string): string => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Counts a refusal: a row per license, day and outcome, so that failing cannot fill the disk. */
const denied = (source: 'decided' | 'outcome', outcome: 'state' | 'answer', granted: string): string => `
  denied as (
    insert into licenses.license_denials (license_id, day, outcome, count, last_at)
    select id, (now at time zone 'UTC')::date, ${outcome}, 1, now from ${source} where ${outcome} not in (${granted})
    on conflict (license_id, day, outcome)
      do update set count = license_denials.count + 1, last_at = excluded.last_at)`;

// Nothing was waited for, so the statement may read the slots itself: that costs half of what the function does.
const checking = `
  select id, plan, used, machine_limit as "machineLimit", lease_seconds as "leaseSeconds", ${verdict}
  from licenses.licenses l cross join lateral (
    select clock_timestamp()::timestamptz(3) as now, count(*)::int as used, max(h.slot) filter (where h.machine_hash in ($2, $3)) as own_slot,
      case when count(*) < l.machine_limit then 1 end as free_slot
    from licenses.held_machines h where h.license_id = l.id) slots
  where key_hash = $1`;

// A machine that takes a lent slot and gives it up all day long adds no event; refusals are counted as ever.
const activating = `with ${decided},
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
    select $6, id, 'activated', 'machine', epoch, jsonb_build_object('machineHint', $5::text, 'expiresAt', ${iso('ends')}), now
    from held where state = 'unactivated' and (lease_seconds is null or activated_at is null)),
  converted as (
    update licenses.trials t set converted_at = h.now, license_id = h.id
    from held h where t.product = h.product and t.machine_hash in ($2, $3) and t.converted_at is null),
  ${denied('decided', 'state', `'active', 'unactivated'`)}
  select d.id, d.plan, d.state, d.holder, d.ends, h.entitled as features,
    d.used + (d.state = 'unactivated')::int as used, d.machine_limit as "machineLimit",
    d.lease_seconds as "leaseSeconds",
    extract(epoch from h.certified_from)::float8 as "issuedAt",
    extract(epoch from h.certified_until)::float8 as "certifiedUntil"
  from decided d left join held h on h.id = d.id`;

/** What a release answers: the state, or that it is done (again), or that the plan allows no more. */
export type ReleaseState = State | 'released' | 'transfers_exhausted';

export interface Released extends Omit<Seen, 'state'> {
  readonly state: ReleaseState;
  readonly transfersLeft: number;
  readonly offlineUntil: string | null;
}

const releasing = `with ${decided},
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
      jsonb_build_object('machineHint', o.own_hint, 'transfers', f.transfers, 'offlineUntil', ${iso('o.own_offline_until')}),
      o.now
    from outcome o join freed f on f.id = o.id where o.lease_seconds is null),
  ${denied('outcome', 'answer', `'active', 'released'`)}
  select o.id, o.plan, o.ends, o.holder, o.own_offline_until as "offlineUntil",
    o.used - (f.id is not null)::int as used, o.machine_limit as "machineLimit",
    o.lease_seconds as "leaseSeconds",
    case when f.id is not null then 'released' else o.answer end as state,
    greatest(o.transfer_limit - coalesce(f.transfers, o.transfers), 0) as "transfersLeft"
  from outcome o left join freed f on f.id = o.id`;

/** Turns a statement with numbered parameters into a tagged one. */
function numbered<Row>(text: string): (values: readonly unknown[]) => Query<Row> {
  const words = text.split(/\$\d/);
  const strings = Object.assign(words, { raw: words });
  const places = [...text.matchAll(/\$(\d)/g)].map(([, number]) => Number(number) - 1);
  return (values) => sql<Row>(strings, ...places.map((place) => values[place]));
}

const activatingQuery = numbered<Granted>(activating);
const releasingQuery = numbered<Released>(releasing);

/** What the license is; changes nothing. Undefined where no license has this key. */
export const checkLicense = async (
  pool: Pool,
  { keyHash, machineHashes }: Claim,
): Promise<Seen | undefined> =>
  (await look<Seen>(pool, { text: checking, values: [keyHash, ...machineHashes] }))[0];

export interface Activation extends Claim {
  readonly pepperId: string;
  readonly machineHint: string;
  readonly eventId: string;
  readonly certificateSeconds: number;
}

const valuesOf = (activation: Activation): unknown[] => {
  const { keyHash, machineHashes, pepperId, machineHint, eventId, certificateSeconds } = activation;
  return [keyHash, ...machineHashes, pepperId, machineHint, eventId, certificateSeconds];
};

/** Gives the machine a free slot, or lets it go on in its own; of many that race as many are let in as slots are free. */
export const activateLicense = async (pool: Pool, activation: Activation): Promise<Granted | undefined> =>
  (await changeOne<Granted>(pool, { text: activating, values: valuesOf(activation) }))[0];

/** The same in a transaction of the operators'. */
export const activateWithin = (db: Db, activation: Activation): Promise<Granted | undefined> =>
  db.find(activatingQuery(valuesOf(activation)));

/** Frees the slot of the machine, within the plan's transfers. The same machine again: the same. */
export const releaseLicense = async (
  pool: Pool,
  { keyHash, machineHashes, eventId }: Claim & { readonly eventId: string },
): Promise<Released | undefined> => {
  const values = [keyHash, ...machineHashes, eventId];
  return (await ask(pool, releasingQuery(values)))[0];
};
