export { type AccessCheckInput, type AccessGrant } from './access-check.ts';
export {
  afterKeySql,
  type ArchiveKey,
  type ArchiveReader,
  type ArchiveReaders,
  type ArchiveSelection,
  createArchiveReader,
  isExportedProjectSql,
  firstIdAtSql,
  isoTimeSql,
  keyTypes,
} from './archive.ts';
export { getActivityPosition } from './activity-position.ts';
export { createFollowers, type Followers } from './followers.ts';
export { findForgeDeliveryKeys, type ForgeDeliveryKeys } from './forge-door.ts';
export {
  type EnteringSession,
  identifyToken,
  identifySession,
  type TokenIdentity,
  recordTokenUse,
} from './identity.ts';
export { type InvitedAccount, type InvitationGrant } from './invited.ts';
export { inOperatorTransaction } from './operator.ts';
export { getOrganizationKey } from './organization-key.ts';
export { inInvitingOrganization, inOrganization } from './organization.ts';
export { outboxRow } from './outbox.ts';
export {
  containsPattern,
  hasLinkedRepository,
  hasRepositoryLinkedTo,
  noAgentId,
  projectIdSql,
  storyIdArraySql,
  storyIdsSql,
  storyIdSql,
  targetIdSql,
  workTargetsSql,
} from './references.ts';
export { TokenRightsCache } from './remembered-rights.ts';
export { type Removal, removeInPortions } from './removal.ts';
export { createStandby, readOutcomes, type Standby } from './standby.ts';
export { acrossOrganizations, inOrganizationAsSystem, notMovingCondition } from './system.ts';
export {
  type AuditFacts,
  type DomainEvent,
  operatorTrailStatement,
  systemAuditFacts,
  trailStatement,
  workerActor,
} from './trail.ts';
export { type StreamPosition, type WaitingCaller } from './waiting.ts';
