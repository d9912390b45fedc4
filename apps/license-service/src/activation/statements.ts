/**
 * The statements behind activation, each one round trip. What decides is locked first and read then: two separate
 * statements, or a count of another table beside the lock, let several machines win the same key.
 */
import { type Pool } from '@muster/database';
import { ask } from '../database.ts';

/** What a license is to whoever asks with a key and a machine, in the words of the header License-State. */
export type State = 'unactivated' | 'active' | 'other_machine' | 'expired' | 'suspended' | 'revoked';

export interface Seen {
  readonly id: string;
  readonly plan: string;
  readonly state: State;
  /** Whether this machine holds the key, whatever the state. */
  readonly holder: boolean;
  /** For a license whose time has not begun, the end that an activation now would give; null: never. */
  readonly ends: string | null;
}

export interface Granted extends Seen {
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

/** What a license is at `now` to the machine of hash $2 or $3. */
const verdict = `
  case
    when status <> 'active' then status
    when expires_at <= now then 'expired'
    when machine_hash in ($2, $3) then 'active'
    when machine_hash is not null then 'other_machine'
    else 'unactivated'
  end as state,
  coalesce(machine_hash in ($2, $3), false) as holder,
  coalesce(expires_at, now + make_interval(secs => duration_seconds)) as ends`;

/**
 * The license of key hash $1, locked and then decided upon. `now` is read after the row is there, hence after a lock
 * was waited for: a time from before would let in what has expired meanwhile.
 */
const decided = `
  found as materialized (
    select * from licenses.licenses where key_hash = $1 for no key update),
  seen as materialized (
    select found.*, clock_timestamp()::timestamptz(3) as now from found),
  decided as materialized (
    select seen.*, ${verdict}
    from seen)`;

/** Counts a refusal: a row per license, day and outcome, so that failing cannot fill the disk. */
const denied = (source: 'decided' | 'outcome', outcome: 'state' | 'answer', granted: string): string => `
  denied as (
    insert into licenses.license_denials (license_id, day, outcome, count, last_at)
    select id, (now at time zone 'UTC')::date, ${outcome}, 1, now from ${source} where ${outcome} not in (${granted})
    on conflict (license_id, day, outcome)
      do update set count = license_denials.count + 1, last_at = excluded.last_at)`;

const checking = `
  select id, plan, ${verdict}
  from licenses.licenses, (select clock_timestamp()::timestamptz(3) as now) as clock
  where key_hash = $1`;

const activating = `with ${decided},
  terms as materialized (
    select decided.*, date_trunc('second', now) as certified_from,
      date_trunc('second', least(now + make_interval(secs => $7::float8), ends)) as certified_until
    from decided where state in ('active', 'unactivated')),
  granted as (
    update licenses.licenses l set
      machine_hash = $2, pepper_id = $4, machine_hint = $5, released_machine_hash = null,
      activated_at = coalesce(l.activated_at, t.now), bound_at = coalesce(l.bound_at, t.now),
      expires_at = t.ends, last_seen_at = t.now, updated_at = t.now,
      offline_until = greatest(l.offline_until, t.certified_until)
    from terms t where l.id = t.id),
  noted as (
    insert into licenses.license_events (id, license_id, kind, actor, epoch, data, at)
    select $6, id, 'activated', 'machine', epoch, jsonb_build_object('machineHint', $5::text, 'expiresAt', ends), now
    from terms where state = 'unactivated'),
  ${denied('decided', 'state', `'active', 'unactivated'`)}
  select d.id, d.plan, d.state, d.holder, d.ends,
    extract(epoch from t.certified_from)::float8 as "issuedAt",
    extract(epoch from t.certified_until)::float8 as "certifiedUntil"
  from decided d left join terms t on t.id = d.id`;

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
        when state = 'unactivated' and released_machine_hash in ($2, $3) then 'released'
        when state = 'active' and transfers >= transfer_limit then 'transfers_exhausted'
        else state
      end as answer
    from decided),
  freed as (
    update licenses.licenses l set
      machine_hash = null, pepper_id = null, machine_hint = null, bound_at = null, released_machine_hash = $2,
      epoch = l.epoch + 1, transfers = l.transfers + 1, last_seen_at = o.now, updated_at = o.now
    from outcome o where l.id = o.id and o.answer = 'active'
    returning l.id, l.transfers, l.epoch),
  noted as (
    insert into licenses.license_events (id, license_id, kind, actor, epoch, data, at)
    select $4, o.id, 'released', 'machine', f.epoch,
      jsonb_build_object('machineHint', o.machine_hint, 'transfers', f.transfers, 'offlineUntil', o.offline_until), o.now
    from outcome o join freed f on f.id = o.id),
  ${denied('outcome', 'answer', `'active', 'released'`)}
  select o.id, o.plan, o.ends, o.holder, o.offline_until as "offlineUntil",
    case when f.id is not null then 'released' else o.answer end as state,
    greatest(o.transfer_limit - coalesce(f.transfers, o.transfers), 0) as "transfersLeft"
  from outcome o left join freed f on f.id = o.id`;

const first = async <Row extends object>(
  pool: Pool,
  name: string,
  text: string,
  values: unknown[],
): Promise<Row | undefined> => (await ask<Row>(pool, { name, text, values }))[0];

/** What the license is; changes nothing. Undefined where no license has this key. */
export const checkLicense = (pool: Pool, { keyHash, machineHashes }: Claim): Promise<Seen | undefined> =>
  first(pool, 'check', checking, [keyHash, ...machineHashes]);

export interface Activation extends Claim {
  readonly pepperId: string;
  readonly machineHint: string;
  readonly eventId: string;
  readonly certificateSeconds: number;
}

/** Binds a free license to the machine, or lets its machine go on; of many that race exactly one is let in. */
export const activateLicense = (pool: Pool, activation: Activation): Promise<Granted | undefined> => {
  const { keyHash, machineHashes, pepperId, machineHint, eventId, certificateSeconds } = activation;
  const values = [keyHash, ...machineHashes, pepperId, machineHint, eventId, certificateSeconds];
  return first(pool, 'activate', activating, values);
};

/** Frees the license of the machine that holds it, within its plan's transfers. The same machine again: the same. */
export const releaseLicense = (
  pool: Pool,
  { keyHash, machineHashes, eventId }: Claim & { readonly eventId: string },
): Promise<Released | undefined> => first(pool, 'release', releasing, [keyHash, ...machineHashes, eventId]);
