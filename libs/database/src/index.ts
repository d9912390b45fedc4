export { BurstError, sendBurst, type Statement } from './burst.ts';
export { createFollowers, type Followers, type StreamPosition } from './followers.ts';
export { newId } from './id.ts';
export { identify, type Identity } from './identity.ts';
export { BadCursor, decodeCursor, encodeCursor, pageOfRows } from './keyset.ts';
export { migrate, migrationNames, type OwnMigrations } from './migrate.ts';
export {
  DatabaseAway,
  type Db,
  type Entry,
  type InvitedEntry,
  inInvitingOrganization,
  inOrganization,
  OutcomeUnknown,
  type Visit,
} from './organization.ts';
export { asOperator } from './operator.ts';
export { acrossOrganizations, inOrganizationAsSystem } from './system.ts';
export { containing, Values } from './values.ts';
export { outboxRow } from './outbox.ts';
export { createPool, type Pool, type PoolConfig, toIso } from './pool.ts';
export { type Param, query, type Query, sqlQuery, statement } from './query.ts';
export { type DB } from './schema.generated.ts';
export { type AuditFacts, type Happening, operatorTrail, trail, workerActor, workerTrail } from './trail.ts';
