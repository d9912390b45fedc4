export { createFollowers, type Followers } from './followers.ts';
export { findForgeDoor, type ForgeDoor } from './forge-door.ts';
export {
  type EnteringSession,
  identify,
  identifySession,
  type TokenIdentity,
  touchTokens,
} from './identity.ts';
export { type InvitedAccount, type InvitedEntry } from './invited.ts';
export { asOperator } from './operator.ts';
export { getOrganizationKey } from './organization-key.ts';
export { type AccessGrant, inInvitingOrganization, inOrganization, type Visit } from './organization.ts';
export { outboxRow } from './outbox.ts';
export {
  containing,
  hasLinkedRepository,
  hasRepositoryLinkedTo,
  projectIdOf,
  storiesOf,
  storyIdOf,
  targetId,
  targetsOf,
} from './references.ts';
export { RememberedRights } from './remembered-rights.ts';
export { type Removal, removeInPortions } from './removal.ts';
export { createStandby, readOutcomes, type Standby } from './standby.ts';
export { acrossOrganizations, inOrganizationAsSystem, isSettled } from './system.ts';
export {
  type AuditFacts,
  type DomainEvent,
  operatorTrail,
  systemFacts,
  trail,
  workerActor,
} from './trail.ts';
export { type Position, type WaitingCaller } from './waiting.ts';
