/** The registry: every operation, by its name. */
import { type Operation, type OperationTree, walkOperations } from '@muster/contract';
import { activity } from './namespaces/activity.ts';
import { admin } from './namespaces/admin.ts';
import { agents } from './namespaces/agents.ts';
import { assignments } from './namespaces/assignments.ts';
import { attachments } from './namespaces/attachments.ts';
import { audit } from './namespaces/audit.ts';
import { billing } from './namespaces/billing.ts';
import { boardColumns } from './namespaces/boardColumns.ts';
import { broadcasts } from './namespaces/broadcasts.ts';
import { budgets } from './namespaces/budgets.ts';
import { changes } from './namespaces/changes.ts';
import { comments } from './namespaces/comments.ts';
import { connections } from './namespaces/connections.ts';
import { contracts } from './namespaces/contracts.ts';
import { deliveryExecutions } from './namespaces/deliveryExecutions.ts';
import { deliveryGroups } from './namespaces/deliveryGroups.ts';
import { devices } from './namespaces/devices.ts';
import { epics } from './namespaces/epics.ts';
import { events } from './namespaces/events.ts';
import { exports } from './namespaces/exports.ts';
import { forges } from './namespaces/forges.ts';
import { gamification } from './namespaces/gamification.ts';
import { identityProviders } from './namespaces/identityProviders.ts';
import { imports } from './namespaces/imports.ts';
import { invitations } from './namespaces/invitations.ts';
import { locks } from './namespaces/locks.ts';
import { members } from './namespaces/members.ts';
import { notifications } from './namespaces/notifications.ts';
import { orgs } from './namespaces/orgs.ts';
import { passkeys } from './namespaces/passkeys.ts';
import { plans } from './namespaces/plans.ts';
import { policy } from './namespaces/policy.ts';
import { projects } from './namespaces/projects.ts';
import { prompts } from './namespaces/prompts.ts';
import { reviewers } from './namespaces/reviewers.ts';
import { search } from './namespaces/search.ts';
import { session } from './namespaces/session.ts';
import { sessions } from './namespaces/sessions.ts';
import { stories } from './namespaces/stories.ts';
import { storyCollaboration } from './namespaces/storyCollaboration.ts';
import { storySpec } from './namespaces/storySpec.ts';
import { teams } from './namespaces/teams.ts';
import { tokens } from './namespaces/tokens.ts';
import { views } from './namespaces/views.ts';
import { usage } from './namespaces/usage.ts';
import { webhooks } from './namespaces/webhooks.ts';

export const registry = {
  deliveryExecutions,
  deliveryGroups,
  agents,
  locks,
  session,
  sessions,
  tokens,
  connections,
  passkeys,
  identityProviders,
  orgs,
  members,
  invitations,
  policy,
  teams,
  devices,
  projects,
  boardColumns,
  epics,
  stories,
  storySpec,
  storyCollaboration,
  comments,
  attachments,
  changes,
  assignments,
  reviewers,
  prompts,
  contracts,
  search,
  imports,
  exports,
  plans,
  views,
  activity,
  events,
  forges,
  audit,
  broadcasts,
  notifications,
  webhooks,
  gamification,
  billing,
  usage,
  budgets,
  admin,
};
export type Registry = typeof registry;

/** All operations by name, in the order of the registry. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  [...walkOperations(registry as unknown as OperationTree)].map((operation) => [operation.name, operation]),
);
