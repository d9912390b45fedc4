/** Leases as they are stored. What writes one has its row locked, and says in its WHERE which grant it is about. */
import { type DB, type Db, of, organization, type Part, type Query, sql } from '@muster/driver';
import { type Lease } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { type HeldLease } from '../rules/acquire.ts';
import { hashLeaseToken, type LeaseClaim, newLeaseToken } from '../rules/lease-tokens.ts';

const leaseColumns = [
  'unit_type',
  'unit_id',
  'state',
  'epoch',
  'token_hash',
  'holder',
  'member_id',
  'agent_id',
  'run_id',
  'ttl_seconds',
  'expires_at',
  'ended_token_hash',
  'ended_by',
] as const;

export type LeaseRow = Pick<Selectable<DB['leases']>, (typeof leaseColumns)[number]>;
export type UnitType = LeaseRow['unit_type'];

/** A lease whose row says that it is held. */
export interface HeldRow extends HeldLease {
  readonly row: LeaseRow;
  readonly ttlSeconds: number;
}

/** What the row says of its holder; null where it has none. */
export function heldLease(row: LeaseRow | undefined): HeldRow | null {
  if (row?.state !== 'held') return null;
  const { holder: actor, member_id: memberId, expires_at: expiresAt, ttl_seconds: ttlSeconds } = row;
  if (actor === null || memberId === null || expiresAt === null || ttlSeconds === null) {
    throw new Error('a held lease has no holder');
  }
  return {
    row,
    actor,
    expiresAt,
    ttlSeconds,
    targetType: row.unit_type === 'story' ? 'story' : 'delivery_group',
    targetId: row.unit_id,
    holder: { memberId, agentId: row.agent_id, runId: row.run_id },
  };
}

/** The lease as readers see it; null where it has no holder. */
export function toLease(row: LeaseRow | undefined): Lease | null {
  const held = heldLease(row);
  if (held === null) return null;
  const { actor, holder, ttlSeconds, expiresAt } = held;
  return {
    holder: actor,
    runId: holder.runId,
    epoch: held.row.epoch,
    ttlSeconds,
    expiresAt,
    renewBy: earlier(expiresAt, ttlSeconds / 3),
  };
}

export const later = (time: string, seconds: number): string =>
  new Date(Date.parse(time) + seconds * 1000).toISOString();
const earlier = (time: string, seconds: number): string => later(time, -seconds);

export const leaseList = sql.columns('l', leaseColumns);

/** The unit whose lease is meant, by the columns of a row of another table. */
export interface UnitParts {
  readonly type: Part;
  readonly id: Part;
}

/** The lease `l` of a unit. */
const ofUnit = ({ type, id }: UnitParts): Part =>
  sql.part`${of('l')} and l.unit_type = ${type} and l.unit_id = ${id}`;

/** SQL for a time as every answer writes it. */
export const isoIn = (time: Part): Part =>
  sql.part`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The lease of a unit as JSON, without what only its holder's check needs; null where it never had one. */
export const leaseJson = (unit: UnitParts): Part => sql.part`(select jsonb_build_object(
    'unit_type', l.unit_type, 'unit_id', l.unit_id, 'state', l.state, 'epoch', l.epoch, 'token_hash', null,
    'holder', l.holder, 'member_id', l.member_id, 'agent_id', l.agent_id, 'run_id', l.run_id,
    'ttl_seconds', l.ttl_seconds,
    'expires_at', ${isoIn(sql.part`l.expires_at`)},
    'ended_token_hash', null, 'ended_by', l.ended_by)
  from leases l where ${ofUnit(unit)})`;

/**
 * By it the rows of units come to be with their first lease; they stay. `units` is a set of
 * `(type, id, project_id)`. It waits for a transaction that makes the same row, in the order in which all are locked.
 */
export const insertUnits = (units: Part): Query<unknown> => sql`
  insert into leases (org_id, unit_type, unit_id, project_id)
  select ${organization}, u.type, u.id, u.project_id /*guard: each unit has its row*/from ${units} u/*end*/ order by u.type, u.id
  on conflict (org_id, unit_type, unit_id) do nothing`;

/** What is granted of a locked lease. */
interface Granting {
  /** The same holder goes on under the same epoch. */
  readonly extends: boolean;
  readonly runId: string | null;
  readonly ttlSeconds: number;
  /** By the database's clock, read after the row was locked. */
  readonly now: string;
}

/** A grant with its token, which is shown once and stored nowhere. */
export function newGrant(
  lease: LeaseRow,
  caller: Caller,
  { extends: goesOn, runId, ttlSeconds, now }: Granting,
): { readonly grant: Grant; readonly leaseToken: string } {
  const newEpoch = goesOn ? lease.epoch : lease.epoch + 1;
  const leaseToken = newLeaseToken(newEpoch);
  return {
    leaseToken,
    grant: {
      unitType: lease.unit_type,
      unitId: lease.unit_id,
      caller,
      runId,
      ttlSeconds,
      now,
      tokenHash: hashLeaseToken(leaseToken),
      foundEpoch: lease.epoch,
      newEpoch,
    },
  };
}

/**
 * A fresh token of a grant, for the answer to a repeated acquire: the first one was never stored. Where another has the
 * lease by now, the token is of no use, as the first one would be.
 */
export async function reissueLeaseToken(
  db: Db,
  caller: Caller,
  unitType: UnitType,
  unitId: string,
  lease: Lease | null,
): Promise<string> {
  const epoch = lease?.epoch ?? 0;
  const leaseToken = newLeaseToken(epoch);
  await db.all(
    sql`update leases set token_hash = ${hashLeaseToken(leaseToken)}
       where ${of()} and unit_type = ${unitType} and unit_id = ${unitId} and state = 'held' and epoch = ${epoch}
         and member_id = ${caller.memberId} and agent_id is not distinct from ${caller.agentId}`,
  );
  return leaseToken;
}

export interface Grant {
  readonly unitType: UnitType;
  readonly unitId: string;
  readonly caller: Caller;
  readonly runId: string | null;
  readonly ttlSeconds: number;
  /** By the database's clock, read after the row was locked. */
  readonly now: string;
  readonly tokenHash: Buffer;
  /** The epoch that was found; a grant to another holder is the one after it. */
  readonly foundEpoch: number;
  readonly newEpoch: number;
}

/** Grants, or goes on with, a locked lease. It names the epoch that was found, so that it can only follow that. */
export const grantLease = (grant: Grant): Query<unknown> =>
  sql`update leases set state = 'held', /*guard: epoch and token of a grant*/epoch = ${grant.newEpoch}, token_hash = ${grant.tokenHash}/*end*/, holder = ${grant.caller.actor}, member_id = ${grant.caller.memberId}, agent_id = ${grant.caller.agentId},
       run_id = ${grant.runId}, ttl_seconds = ${grant.ttlSeconds}, expires_at = /*guard: the time of a grant*/${later(grant.now, grant.ttlSeconds)}/*end*/,
       granted_at = case when epoch = ${grant.newEpoch} then granted_at else ${grant.now}::timestamptz end, expiry_noted = false
     where ${of()} and unit_type = ${grant.unitType} and unit_id = ${grant.unitId} and epoch = ${grant.foundEpoch}`;

/** The row after a grant. */
export const grantedRow = (row: LeaseRow, grant: Grant): LeaseRow => ({
  ...row,
  state: 'held',
  epoch: grant.newEpoch,
  token_hash: grant.tokenHash,
  holder: grant.caller.actor,
  member_id: grant.caller.memberId,
  agent_id: grant.caller.agentId,
  run_id: grant.runId,
  ttl_seconds: grant.ttlSeconds,
  expires_at: later(grant.now, grant.ttlSeconds),
});

/** What the row of a lease without a holder says. */
export const noHolder = sql.part`state = 'free', token_hash = null, holder = null, member_id = null, agent_id = null,
  run_id = null, expires_at = null`;

/** The holder's own end of its lease. */
export interface OwnEnd {
  readonly claim: LeaseClaim;
  /** Its token stays known, so that this same call repeated hears the same. */
  readonly call: string;
}

/**
 * Frees a locked lease: its holder is fenced by the state, and the epoch rises with the next grant. The holder's own end
 * names its token.
 */
export const freeLease = (
  { unit_type: unitType, unit_id: unitId, epoch }: LeaseRow,
  own?: OwnEnd,
): Query<unknown> =>
  own === undefined
    ? sql`update leases set ${noHolder}
         where ${of()} and unit_type = ${unitType} and unit_id = ${unitId} and /*guard: a lease is freed for others*/epoch = ${epoch}/*end*/`
    : sql`update leases set ${noHolder}, ended_token_hash = /*guard: the call that ended a lease*/${own.claim.tokenHash}/*end*/, ended_by = ${own.call}
         where ${of()} and unit_type = ${unitType} and unit_id = ${unitId} and /*guard: a lease is freed by its holder*/state = 'held' and epoch = ${own.claim.epoch} and token_hash = ${own.claim.tokenHash}/*end*/`;

/** The lease with its time begun anew, while the claim holds it: any operation of the holder renews. */
export function renewed(
  { lease, claim, now }: { readonly lease: LeaseRow; readonly claim: LeaseClaim; readonly now: string },
  ttlSeconds: number,
): { readonly lease: LeaseRow; readonly query: Query<unknown> } {
  const expiresAt = later(now, ttlSeconds);
  return {
    lease: { ...lease, ttl_seconds: ttlSeconds, expires_at: expiresAt },
    query: sql`update leases set ttl_seconds = ${ttlSeconds}, expires_at = /*guard: the time of a renewal*/${expiresAt}/*end*/, expiry_noted = false
       where ${of()} and unit_type = ${lease.unit_type} and unit_id = ${lease.unit_id} and state = 'held' and epoch = ${claim.epoch} and token_hash = ${claim.tokenHash}`,
  };
}

/** Lets a holder's write through only while its grant is the newest and held. */
export const fencedBy = (
  unit: UnitParts,
  { epoch, tokenHash }: { readonly epoch: number; readonly tokenHash: Buffer },
): Part => sql.part`exists (select from leases l
  where ${ofUnit(unit)}
    and /*guard: fence*/l.state = 'held' and l.epoch = ${epoch} and l.token_hash = ${tokenHash}/*end*/)`;

/** Whether the claim is the newest grant, which no call ended, and the caller is whom it was given. No clock in it. */
export const holds = (
  row: LeaseRow,
  claim: LeaseClaim,
  caller: Pick<Caller, 'memberId' | 'agentId'>,
): boolean =>
  row.state === 'held' &&
  row.epoch === claim.epoch &&
  row.token_hash?.equals(claim.tokenHash) === true &&
  row.member_id === caller.memberId &&
  row.agent_id === caller.agentId;

/** Whether the claim ended its grant by this very call. */
export const endedBy = (row: LeaseRow | undefined, claim: LeaseClaim, call: string): boolean =>
  row?.ended_by === call && row.ended_token_hash?.equals(claim.tokenHash) === true;

/** SQL for the time now, by the database's clock, as times are stored. */
export const clock = sql.part`clock_timestamp()::timestamptz(3) as now`;

/** A statement of its own, behind those that lock. */
export const readClock = async (db: Db): Promise<string> =>
  (await db.one(sql<{ now: string }>`select /*guard: the time by which leases are judged*/${clock}/*end*/`))
    .now;
