import { session } from './operations/session/handlers.ts';

/** What this lib answers, by namespace. */
export const peopleHandlers = { session };

export { addMember, listMembers } from './operators/members.ts';
export { createOrganization, listOrganizations, type OrganizationLine } from './operators/organizations.ts';
export {
  createToken,
  grantPlatform,
  listTokens,
  revokeToken,
  type ShownToken,
  type TokenLine,
} from './operators/tokens.ts';
export { planFeatures, planLimits, type PlanLimits } from './rules/entitlement.ts';
