/**
 * Leases as stored rows. A statement that writes a lease has locked its row before, and names the grant in
 * its WHERE clause.
 */
import { type DB, type Db, orgFilter, currentOrgId, type Part, type Query, sql } from '@muster/driver';
import { type Lease } from '@muster/contract';
import { type Caller } from '@muster/runtime';
import { isoTimeSql } from '@muster/tenancy';
import { type Selectable } from 'kysely';
import { expiredLeaseGraceSeconds, type LeaseWithHolder } from '../rules/acquire.ts';
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

/** A lease with state `held`. */
export interface HeldLeaseRow extends LeaseWithHolder {
  readonly leaseRow: LeaseRow;
  readonly ttlSeconds: number;
}

/** Returns the lease with columns of a holder that are not null. Returns null if the lease has no holder. */
export function toHeldLease(row: LeaseRow | undefined): HeldLeaseRow | null {
  if (row?.state !== 'held') return null;
  const { holder: actor, member_id: memberId, expires_at: expiresAt, ttl_seconds: ttlSeconds } = row;
  if (actor === null || memberId === null || expiresAt === null || ttlSeconds === null)
    throw new Error('a held lease has no holder');
  return {
    leaseRow: row,
    actor,
    expiresAt,
    ttlSeconds,
    targetType: row.unit_type === 'story' ? 'story' : 'delivery_group',
    targetId: row.unit_id,
    holder: { memberId, agentId: row.agent_id, runId: row.run_id },
  };
}

/** Returns the lease as an API record; null without a holder. */
export function toLease(row: LeaseRow | undefined): Lease | null {
  const held = toHeldLease(row);
  if (held === null) return null;
  const { actor, holder, ttlSeconds, expiresAt } = held;
  return {
    holder: actor,
    runId: holder.runId,
    epoch: held.leaseRow.epoch,
    ttlSeconds,
    expiresAt,
    renewBy: subtractSeconds(expiresAt, ttlSeconds / 3),
  };
}

export const addSeconds = (time: string, seconds: number): string =>
  new Date(Date.parse(time) + seconds * 1000).toISOString();
const subtractSeconds = (time: string, seconds: number): string => addSeconds(time, -seconds);

export const leaseColumnList = sql.columns('l', leaseColumns);

/** The unit of a lease, as columns of another table's row. */
export interface UnitColumns {
  readonly type: Part;
  readonly id: Part;
}

/** Returns the condition for the lease `l` of a story or group. */
const isLeaseOfUnitSql = ({ type, id }: UnitColumns): Part =>
  sql.part`${orgFilter('l')} and l.unit_type = ${type} and l.unit_id = ${id}`;

/**
 * Returns SQL for the lease of a story or group as JSON; null if it has no row. The columns that only the
 * check of the holder needs are null.
 */
export const leaseJson = (unit: UnitColumns): Part => sql.part`(select jsonb_build_object(
    'unit_type', l.unit_type, 'unit_id', l.unit_id, 'state', l.state, 'epoch', l.epoch, 'token_hash', null,
    'holder', l.holder, 'member_id', l.member_id, 'agent_id', l.agent_id, 'run_id', l.run_id,
    'ttl_seconds', l.ttl_seconds,
    'expires_at', ${isoTimeSql(sql.part`l.expires_at`)},
    'ended_token_hash', null, 'ended_by', l.ended_by)
  from leases l where ${isLeaseOfUnitSql(unit)})`;

/**
 * Inserts missing lease rows; rows stay after the first grant. `units` is a set of `(type, id, project_id)`
 * of stories and groups. The statement waits for a transaction that inserts the same row, in the common lock
 * order.
 */
export const insertMissingLeases = (units: Part): Query<unknown> => sql`
  insert into leases (org_id, unit_type, unit_id, project_id)
  select ${currentOrgId}, u.type, u.id, u.project_id /*guard: each unit has its row*/from ${units} u/*end*/ order by u.type, u.id
  on conflict (org_id, unit_type, unit_id) do nothing`;

/** The parameters of a grant on a locked lease. */
interface GrantParams {
  /** True if the same holder continues under the same epoch. */
  readonly isExtension: boolean;
  readonly runId: string | null;
  readonly ttlSeconds: number;
  /** The database's time after the lease was locked. */
  readonly now: string;
}

/** Creates a grant with its token. The token is returned once and never stored. */
export function newGrant(
  lease: LeaseRow,
  caller: Caller,
  { isExtension: goesOn, runId, ttlSeconds, now }: GrantParams,
): { readonly grant: LeaseGrant; readonly leaseToken: string } {
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
      expectedEpoch: lease.epoch,
      newEpoch,
    },
  };
}

/**
 * Issues a new token of a grant, for the answer to a repeated acquire: the first token was never stored. If
 * another holder has the lease by now, the new token is invalid, as the first one would be.
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
       where ${orgFilter()} and unit_type = ${unitType} and unit_id = ${unitId} and state = 'held' and epoch = ${epoch}
         and member_id = ${caller.memberId} and agent_id is not distinct from ${caller.agentId}`,
  );
  return leaseToken;
}

export interface LeaseGrant {
  readonly unitType: UnitType;
  readonly unitId: string;
  readonly caller: Caller;
  readonly runId: string | null;
  readonly ttlSeconds: number;
  /** The database's time after the lease was locked. */
  readonly now: string;
  readonly tokenHash: Buffer;
  /** The epoch of the locked row. A grant to another holder increments it. */
  readonly expectedEpoch: number;
  readonly newEpoch: number;
}

/**
 * Returns the statement that grants or extends a locked lease. The WHERE clause contains the epoch that was
 * read, so the statement has no effect on a newer grant.
 */
export const grantLease = (grant: LeaseGrant): Query<unknown> =>
  sql`update leases set state = 'held', /*guard: epoch and token of a grant*/epoch = ${grant.newEpoch}, token_hash = ${grant.tokenHash}/*end*/, holder = ${grant.caller.actor}, member_id = ${grant.caller.memberId}, agent_id = ${grant.caller.agentId},
       run_id = ${grant.runId}, ttl_seconds = ${grant.ttlSeconds}, expires_at = /*guard: the time of a grant*/${addSeconds(grant.now, grant.ttlSeconds)}/*end*/,
       granted_at = case when epoch = ${grant.newEpoch} then granted_at else ${grant.now}::timestamptz end, expiry_noted = false
     where ${orgFilter()} and unit_type = ${grant.unitType} and unit_id = ${grant.unitId} and epoch = ${grant.expectedEpoch}`;

/** Returns the row of the lease after a grant. */
export const grantedRow = (row: LeaseRow, grant: LeaseGrant): LeaseRow => ({
  ...row,
  state: 'held',
  epoch: grant.newEpoch,
  token_hash: grant.tokenHash,
  holder: grant.caller.actor,
  member_id: grant.caller.memberId,
  agent_id: grant.caller.agentId,
  run_id: grant.runId,
  ttl_seconds: grant.ttlSeconds,
  expires_at: addSeconds(grant.now, grant.ttlSeconds),
});

/** SQL that sets the columns of a lease without a holder. */
export const clearHolderSql = sql.part`state = 'free', token_hash = null, holder = null, member_id = null, agent_id = null,
  run_id = null, expires_at = null`;

/** The end of a lease by its own holder. */
export interface LeaseEndByHolder {
  readonly claim: LeaseClaim;
  /**
   * The name of the ending call. It is stored with the token's hash, so that a repeated call gets the same
   * answer.
   */
  readonly endingCall: string;
}

/**
 * Frees a locked lease. The state fences off its holder, and the next grant increments the epoch. If the
 * holder itself ends the lease, the statement also checks its token.
 */
export const freeLease = (
  { unit_type: unitType, unit_id: unitId, epoch }: LeaseRow,
  endByHolder?: LeaseEndByHolder,
): Query<unknown> =>
  endByHolder === undefined
    ? sql`update leases set ${clearHolderSql}
         where ${orgFilter()} and unit_type = ${unitType} and unit_id = ${unitId} and /*guard: a lease is freed for others*/epoch = ${epoch}/*end*/`
    : sql`update leases set ${clearHolderSql}, ended_token_hash = /*guard: the call that ended a lease*/${endByHolder.claim.tokenHash}/*end*/, ended_by = ${endByHolder.endingCall}
         where ${orgFilter()} and unit_type = ${unitType} and unit_id = ${unitId} and /*guard: a lease is freed by its holder*/state = 'held' and epoch = ${endByHolder.claim.epoch} and token_hash = ${endByHolder.claim.tokenHash}/*end*/`;

/**
 * Returns the lease with a new expiry, and the statement that applies it while the claim is valid. Every
 * operation of a holder renews its lease.
 */
export function renewedLease(
  { lease, claim, now }: { readonly lease: LeaseRow; readonly claim: LeaseClaim; readonly now: string },
  ttlSeconds: number,
): { readonly lease: LeaseRow; readonly query: Query<unknown> } {
  const expiresAt = addSeconds(now, ttlSeconds);
  return {
    lease: { ...lease, ttl_seconds: ttlSeconds, expires_at: expiresAt },
    query: sql`update leases set ttl_seconds = ${ttlSeconds}, expires_at = /*guard: the time of a renewal*/${expiresAt}/*end*/, expiry_noted = false
       where ${orgFilter()} and unit_type = ${lease.unit_type} and unit_id = ${lease.unit_id} and state = 'held' and epoch = ${claim.epoch} and token_hash = ${claim.tokenHash}`,
  };
}

/** Returns the fencing condition: the grant is the newest and held. */
export const fenceSql = (
  unit: UnitColumns,
  { epoch, tokenHash }: { readonly epoch: number; readonly tokenHash: Buffer },
): Part => sql.part`exists (select from leases l
  where ${isLeaseOfUnitSql(unit)}
    and /*guard: fence*/l.state = 'held' and l.epoch = ${epoch} and l.token_hash = ${tokenHash}/*end*/)`;

/**
 * Reports whether the claim is the newest grant and belongs to the caller. The time does not matter: an
 * expired lease is still held.
 */
export const isCurrentClaim = (
  row: LeaseRow,
  claim: LeaseClaim,
  caller: Pick<Caller, 'memberId' | 'agentId'>,
): boolean =>
  row.state === 'held' &&
  row.epoch === claim.epoch &&
  row.token_hash?.equals(claim.tokenHash) === true &&
  row.member_id === caller.memberId &&
  row.agent_id === caller.agentId;

/** Reports whether this same call already ended the grant of the claim. */
export const wasEndedByCall = (row: LeaseRow | undefined, claim: LeaseClaim, call: string): boolean =>
  row?.ended_by === call && row.ended_token_hash?.equals(claim.tokenHash) === true;

/** The condition that lease `l` is held. A lease that expired within the grace period counts as held. */
export const isHeldWithGraceSql = sql.part`(l.state = 'held'
  and l.expires_at > clock_timestamp() - make_interval(secs => ${sql.literal(expiredLeaseGraceSeconds)}))`;

/** SQL for the database's time, with the precision of stored times. */
export const clockColumn = sql.part`clock_timestamp()::timestamptz(3) as now`;

/** Reads the database's time in a separate statement. Send it after the statements that lock. */
export const readClock = async (db: Db): Promise<string> =>
  (
    await db.one(
      sql<{ now: string }>`select /*guard: the time by which leases are judged*/${clockColumn}/*end*/`,
    )
  ).now;
