/** Leases as they are stored. What writes one has its row locked, and says in its WHERE which grant it is about. */
import { type Db, type DB, type Query, sqlQuery, type Values } from '@muster/database';
import { type Actor, type Lease } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { type HeldLease, type Holder } from '../rules/acquire.ts';
import { hashLeaseToken, type LeaseClaim, newLeaseToken } from '../rules/lease-tokens.ts';

export type LeaseRow = Omit<Selectable<DB['leases']>, 'org_id' | 'project_id'>;
export type UnitType = LeaseRow['unit_type'];

export const leaseColumns = [
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
  'granted_at',
  'expires_at',
  'ended_token_hash',
  'ended_by',
] as const;

/** A lease whose row says that somebody holds it. */
export interface Held {
  readonly row: LeaseRow;
  readonly actor: Actor;
  readonly holder: Holder;
  readonly expiresAt: string;
  readonly ttlSeconds: number;
}

/** What the row says of its holder; undefined where nobody holds it. */
export function heldOf(row: LeaseRow | undefined): Held | undefined {
  if (row?.state !== 'held') return undefined;
  const { holder: actor, member_id: memberId, expires_at: expiresAt, ttl_seconds: ttlSeconds } = row;
  if (actor === null || memberId === null || expiresAt === null || ttlSeconds === null) {
    throw new Error('a held lease has no holder');
  }
  return {
    row,
    actor,
    expiresAt,
    ttlSeconds,
    holder: { memberId, agentId: row.agent_id, runId: row.run_id },
  };
}

/** The lease as readers see it; null where nobody holds it. */
export function toLease(row: LeaseRow | undefined): Lease | null {
  const held = heldOf(row);
  if (held === undefined) return null;
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

/** For the rules of who may have a lease. */
export function toHeldLease(row: LeaseRow): HeldLease | null {
  const held = heldOf(row);
  if (held === undefined) return null;
  const { actor, holder, expiresAt } = held;
  const targetType = row.unit_type === 'story' ? 'story' : 'delivery_group';
  return { targetType, targetId: row.unit_id, holder, actor, expiresAt };
}

export const later = (time: string, seconds: number): string =>
  new Date(Date.parse(time) + seconds * 1000).toISOString();
const earlier = (time: string, seconds: number): string => later(time, -seconds);

export const leaseList = leaseColumns.map((column) => `l.${column}`).join(', ');

/** SQL for the lease of a unit as JSON, without what only its holder's check needs; null where it never had one. */
export const leaseJson = (unit: {
  readonly org: string;
  readonly type: string;
  readonly id: string;
}): string => `(select jsonb_build_object(${leaseColumns
  .filter((column) => !column.endsWith('token_hash'))
  .map((column) => `'${column}', ${jsonOf(column)}`)
  .join(', ')}, 'token_hash', null, 'ended_token_hash', null)
  from leases l where l.org_id = ${unit.org} and l.unit_type = ${unit.type} and l.unit_id = ${unit.id})`;

/** Times as every answer writes them. */
function jsonOf(column: string): string {
  const isTime = column.endsWith('_at');
  return isTime ? `to_char(l.${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : `l.${column}`;
}

/**
 * SQL by which the rows of units come to be with their first lease; they stay. `units` is SQL for a set of
 * `(type, id, project_id)`. It waits for whoever makes the same row, in the order in which all are locked.
 */
export const insertUnits = (values: Values, units: string): string => `
  insert into leases (org_id, unit_type, unit_id, project_id)
  select ${values.org}, u.type, u.id, u.project_id from ${units} u order by u.type, u.id
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
    sqlQuery(
      `update leases set token_hash = $5
       where org_id = $1 and unit_type = $2 and unit_id = $3 and state = 'held' and epoch = $4
         and member_id = $6 and agent_id is not distinct from $7`,
      [caller.orgId, unitType, unitId, epoch, hashLeaseToken(leaseToken), caller.memberId, caller.agentId],
    ),
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
export const grantLease = (orgId: string, grant: Grant): Query<unknown> =>
  sqlQuery(
    `update leases set state = 'held', epoch = $4, token_hash = $5, holder = $6, member_id = $7, agent_id = $8,
       run_id = $9, ttl_seconds = $10, expires_at = $11,
       granted_at = case when epoch = $4 then granted_at else $12::timestamptz end, expiry_noted = false
     where org_id = $1 and unit_type = $2 and unit_id = $3 and epoch = $13`,
    [
      orgId,
      grant.unitType,
      grant.unitId,
      grant.newEpoch,
      grant.tokenHash,
      grant.caller.actor,
      grant.caller.memberId,
      grant.caller.agentId,
      grant.runId,
      grant.ttlSeconds,
      later(grant.now, grant.ttlSeconds),
      grant.now,
      grant.foundEpoch,
    ],
  );

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

/** What a lease's row says that nobody holds. */
export const nobody = `state = 'free', token_hash = null, holder = null, member_id = null, agent_id = null,
  run_id = null, expires_at = null`;

/** Sets an expired lease of another unit free: its holder is fenced by the state, and its epoch rises with the next grant. */
export const freeLease = (orgId: string, unitType: UnitType, unitId: string, epoch: number): Query<unknown> =>
  sqlQuery(
    `update leases set ${nobody}
     where org_id = $1 and unit_type = $2 and unit_id = $3 and epoch = $4`,
    [orgId, unitType, unitId, epoch],
  );

/** The holder's own end of a lease. Its token stays known, so that the same call repeated hears the same. */
export const endLease = (
  orgId: string,
  unitType: UnitType,
  unitId: string,
  claim: LeaseClaim,
  endedBy: string,
): Query<unknown> =>
  sqlQuery(
    `update leases set ${nobody}, ended_token_hash = $5, ended_by = $6
     where org_id = $1 and unit_type = $2 and unit_id = $3 and state = 'held' and epoch = $4 and token_hash = $5`,
    [orgId, unitType, unitId, claim.epoch, claim.tokenHash, endedBy],
  );

/** The lease with its time begun anew, while the claim holds it: any operation of the holder renews. */
export function renewed(
  orgId: string,
  { lease, claim, now }: { readonly lease: LeaseRow; readonly claim: LeaseClaim; readonly now: string },
  ttlSeconds: number,
): { readonly lease: LeaseRow; readonly query: Query<unknown> } {
  const expiresAt = later(now, ttlSeconds);
  return {
    lease: { ...lease, ttl_seconds: ttlSeconds, expires_at: expiresAt },
    query: sqlQuery(
      `update leases set ttl_seconds = $6, expires_at = $7, expiry_noted = false
       where org_id = $1 and unit_type = $2 and unit_id = $3 and state = 'held' and epoch = $4 and token_hash = $5`,
      [orgId, lease.unit_type, lease.unit_id, claim.epoch, claim.tokenHash, ttlSeconds, expiresAt],
    ),
  };
}

/** SQL that lets a holder's write through only while its grant is the newest and held. */
export const fencedBy = (
  unit: { readonly org: string; readonly type: string; readonly id: string },
  grant: { readonly epoch: string; readonly tokenHash: string },
): string => `exists (select from leases l
  where l.org_id = ${unit.org} and l.unit_type = ${unit.type} and l.unit_id = ${unit.id}
    and l.state = 'held' and l.epoch = ${grant.epoch} and l.token_hash = ${grant.tokenHash})`;

/** Whether the claim is the newest grant, which nobody ended, and the caller is whom it was given. No clock in it. */
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
export const clock = 'clock_timestamp()::timestamptz(3) as now';

/** A statement of its own, behind those that lock. */
export const readClock = async (db: Db): Promise<string> =>
  (await db.one(sqlQuery<{ now: string }>(`select ${clock}`, []))).now;
