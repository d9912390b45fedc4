import { agents } from './operations/agents/handlers.ts';
import { connections } from './operations/connections/handlers.ts';
import { createDeviceHandlers } from './operations/devices/handlers.ts';
import { createSecretCipher } from '@muster/outbound';
import { invitations } from './operations/invitations/handlers.ts';
import { members } from './operations/members/handlers.ts';
import { orgs } from './operations/orgs/handlers.ts';
import { passkeys } from './operations/passkeys/handlers.ts';
import { policy } from './operations/policy/handlers.ts';
import { session } from './operations/session/handlers.ts';
import { sessions } from './operations/sessions/handlers.ts';
import { teams } from './operations/teams/handlers.ts';
import { tokens } from './operations/tokens/handlers.ts';

/** The handlers of this library, by namespace, of an installation without SECRETS_KEY. */
export const organizationsHandlers = {
  devices: createDeviceHandlers(createSecretCipher([])),
  ...{ session, sessions, orgs, members, invitations, policy, teams, tokens },
  ...{ agents, connections, passkeys },
};

export { organizationsArchiveReaders } from './data/archive.ts';
export { type AgentRow } from './data/agents.ts';
export {
  deleteUnusedAgents,
  deleteUnusedTeams,
  type ImportedTeam,
  insertImportedAgents,
  insertImportedTeams,
} from './data/imported.ts';
export { isAdmin } from './data/reach.ts';
export { scimHandlers } from './scim/handlers.ts';
export { createIdentityProviderHandlers } from './operations/identityProviders/handlers.ts';
export { redirectPath } from './operations/identityProviders/set-up.ts';
export {
  requestProviderChecks,
  storeCheckResult,
  organizationsToCheckQuery,
  providerSecretOwner,
  readProvider,
} from './data/identity-providers.ts';
export { prepareDomainMail } from './domains/mail.ts';
export { toDomainTxtRecord } from './rules/domain-proofs.ts';
export { createDeviceHandlers } from './operations/devices/handlers.ts';
export { deviceSecretOwner, findSlackAccountOwner } from './data/devices.ts';
export { prepareChatMail } from './chat-mail.ts';
export { preparePasskeyMail } from './passkeys/mail.ts';
export { renderPasskeyMail } from './rules/passkey-mail.ts';
export { skipNumbersAfterFailover } from './operators/after-loss.ts';
export { type DeadJob, listDeadJobs, replayJobs } from './operators/dead-jobs.ts';
export { addMember, listMembers } from './operators/members.ts';
export { listNodes, moveOrganizationToNode, setNodeAcceptsOrganizations } from './operators/nodes.ts';
export { createOrganization, listOrganizations, requireDatabaseNode } from './operators/organizations.ts';
export {
  createToken,
  grantPlatformAccess,
  listTokens,
  revokeToken,
  registerPlatformTokensOnAllNodes,
  type TokenWithSecret,
} from './operators/tokens.ts';
export { getEntitlement } from './data/entitlement.ts';
export { countFreeSeats, getSeats, seatCountQueries, lockSeats, type SeatCounts } from './data/seats.ts';
export {
  createOrganizationForAccount,
  type CreationRequestFacts,
  type OrganizationCreationResult,
} from './accounts/begin.ts';
export {
  acceptInvitation,
  type AcceptedInvitation,
  type AcceptanceRequestFacts,
  acceptInvitationByAccount,
} from './invitations/accept.ts';
export { prepareInvitationMail } from './invitations/mail.ts';
export { type InvitationMail } from './rules/invitation-mail.ts';
export {
  requestTokenExpiryMails,
  prepareTokenMail,
  expiringTokensCondition,
  tokenWarningDays,
} from './tokens/ending.ts';
/** The state machine of an invitation, as a table. */
export {
  invitationActions,
  invitationValidityDays,
  invitationTransitions,
} from './rules/invitation-states.ts';
export { type TimeRange, findPeriodContaining } from './rules/periods.ts';
export { planLimits } from './rules/entitlement.ts';
