export { ask } from './ask.ts';
export { BurstError, sendBurst, type Statement } from './burst.ts';
export { createFollowers, type Followers } from './followers.ts';
export { findForgeDoor, type ForgeDoor } from './forge-door.ts';
export { newId } from './id.ts';
export { CannotMove } from './moving/cannot-move.ts';
export { type Moved, moveOrganization, type MoveStep } from './moving/move.ts';
export { type EnteringSession, identify, identifySession, type Identity, touchTokens } from './identity.ts';
export { addPeer, exchangeCopies } from './copies.ts';
export { inSignIn, type SignInDb } from './sign-in.ts';
export {
  BadCursor,
  CursorCount,
  CursorId,
  CursorSeq,
  CursorText,
  CursorTime,
  decodeCursor,
  encodeCursor,
  mostLookedAt,
  type Page,
  pageOfRows,
  pageOfSearch,
  searched,
  shortenable,
  shortened,
  withinPage,
} from './keyset.ts';
export { faultOfServerAt, leastPostgres } from './server-version.ts';
export { migrate, migrationNames, statementsAlone } from './migrate.ts';
export {
  type Db,
  type Entry,
  inInvitingOrganization,
  inOrganization,
  OutcomeUnknown,
  type Visit,
} from './organization.ts';
export { asOperator } from './operator.ts';
export { acrossOrganizations, inOrganizationAsSystem, isSettled } from './system.ts';
export { type InvitedAccount, type InvitedEntry } from './invited.ts';
export {
  atEachNode,
  eachInTurn,
  everyNode,
  forgetPlace,
  homeName,
  joinNodes,
  type Node,
  type NodeAddress,
  type Nodes,
  nodesOf,
  parseNodes,
} from './nodes.ts';
export { nodeChecks, openNodes, type OpenNodes } from './open-nodes.ts';
export { bytesAt, claimSlug, makeAtNode, nodeForNew } from './placing.ts';
export { askOtherServers } from './platform.ts';
export { type PlainDb, type Within } from './transaction.ts';
export { RememberedRights } from './remembered-rights.ts';
export { type Removal, removeInPortions } from './removal.ts';
export { portionsOf } from './portions.ts';
export { getOrganizationKey } from './organization-key.ts';
export { outboxRow } from './outbox.ts';
export {
  connectionFault,
  commandConnectMillis,
  createPool,
  DatabaseAway,
  DatabaseBusy,
  type Pool,
  type PoolConfig,
} from './pool.ts';
export { nextVersion, record, requireVersion, type RowOf, view } from './record.ts';
export {
  containing,
  hasLinkedRepository,
  hasRepositoryLinkedTo,
  type Id,
  projectIdOf,
  storiesOf,
  storyIdOf,
  targetId,
  targetsOf,
} from './references.ts';
export { type DB } from './schema.generated.ts';
export { sendRead, sendShortWrite } from './shared-reads.ts';
export { createStandby, readOutcomes, type Standby } from './standby.ts';
export { bind, boundStatements, of, organization, Part, type Query, sql } from './sql.ts';
export {
  type AuditFacts,
  type DomainEvent,
  operatorTrail,
  systemFacts,
  trail,
  workerActor,
} from './trail.ts';
export { type Position, type Waiter } from './waiting.ts';
