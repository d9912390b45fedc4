/**
 * Assembles the whole product: the handler of each operation, and the reactions to events. An operation
 * without a handler is a compile error.
 */
import {
  attachmentsArchiveReaders,
  attachmentsHandlers,
  type AttachmentsConfig,
  defaultAttachmentsConfig,
} from '@muster/attachments';
import {
  billingHandlers,
  defaultSeatPrices,
  platformHandlers,
  type SeatPrices,
  seatReactions,
} from '@muster/billing';
import { boardArchiveReaders, boardHandlers, internalBoardHandlers, unblockReactions } from '@muster/board';
import {
  deliveryHandlers,
  executionReactions,
  internalHandlers,
  reworkReactions,
  runReactions,
} from '@muster/delivery';
import { forgeReactions, forgesHandlers, type ForgesConfig } from '@muster/forges';
import { gamificationHandlers } from '@muster/gamification';
import { createSecretCipher } from '@muster/outbound';
import { type SlackTokens } from '@muster/outbound/slack';
import {
  createDeviceHandlers,
  createIdentityProviderHandlers,
  organizationsArchiveReaders,
  organizationsHandlers,
} from '@muster/organizations';
import { type ArchiveReaders } from '@muster/tenancy';
import { type Registry } from '@muster/registry';
import { type EventReaction, type Handler, handlersByOperation, type HandlersOf } from '@muster/runtime';
import {
  notificationReaction,
  notificationsArchiveReaders,
  notificationsHandlers,
  defaultWebhooksConfig,
  type WebhooksConfig,
  createWebhookHandlers,
} from '@muster/notifications';

export type AllHandlers = HandlersOf<Registry>;

/** The settings of the whole installation that handlers need. */
export interface HandlersConfig {
  readonly seatPrices: SeatPrices;
  readonly forges: ForgesConfig;
  readonly webhooks: WebhooksConfig;
  readonly attachments: AttachmentsConfig;
  /** Verifies the links that connect Slack accounts; by default those of an installation without SECRETS_KEY. */
  readonly slackTokens?: SlackTokens;
}

export const createHandlers = ({
  seatPrices,
  forges,
  webhooks,
  attachments,
  slackTokens,
}: HandlersConfig): AllHandlers => ({
  session: organizationsHandlers.session,
  sessions: organizationsHandlers.sessions,
  orgs: organizationsHandlers.orgs,
  members: organizationsHandlers.members,
  invitations: organizationsHandlers.invitations,
  policy: organizationsHandlers.policy,
  teams: { ...organizationsHandlers.teams, projects: boardHandlers.teams.projects },
  devices: createDeviceHandlers(webhooks.seals, slackTokens),
  tokens: organizationsHandlers.tokens,
  connections: organizationsHandlers.connections,
  passkeys: organizationsHandlers.passkeys,
  identityProviders: createIdentityProviderHandlers({ ...forges, networks: webhooks.networks }),
  projects: { ...boardHandlers.projects, ...deliveryHandlers.projects },
  boardColumns: boardHandlers.boardColumns,
  epics: boardHandlers.epics,
  stories: boardHandlers.stories,
  storySpec: boardHandlers.storySpec,
  storyCollaboration: boardHandlers.storyCollaboration,
  comments: boardHandlers.comments,
  attachments: attachmentsHandlers(attachments).attachments,
  changes: deliveryHandlers.changes,
  assignments: boardHandlers.assignments,
  reviewers: boardHandlers.reviewers,
  deliveryExecutions: deliveryHandlers.deliveryExecutions,
  agents: { ...organizationsHandlers.agents, ...deliveryHandlers.agents, ...notificationsHandlers.agents },
  deliveryGroups: deliveryHandlers.deliveryGroups,
  locks: deliveryHandlers.locks,
  forges: forgesHandlers(forges).forges,
  prompts: boardHandlers.prompts,
  contracts: boardHandlers.contracts,
  search: boardHandlers.search,
  imports: boardHandlers.imports,
  exports: attachmentsHandlers(attachments).exports,
  plans: boardHandlers.plans,
  views: boardHandlers.views,
  activity: notificationsHandlers.activity,
  events: notificationsHandlers.events,
  audit: notificationsHandlers.audit,
  broadcasts: notificationsHandlers.broadcasts,
  notifications: notificationsHandlers.notifications,
  webhooks: createWebhookHandlers(webhooks),
  gamification: gamificationHandlers.gamification,
  billing: billingHandlers(seatPrices).billing,
  usage: deliveryHandlers.usage,
  budgets: deliveryHandlers.budgets,
  admin: platformHandlers.admin,
});

/** The handlers of an installation that uses only default settings. */
export const handlers = createHandlers({
  seatPrices: defaultSeatPrices,
  webhooks: defaultWebhooksConfig,
  attachments: defaultAttachmentsConfig,
  forges: { seals: createSecretCipher([]), baseUrl: 'http://127.0.0.1:4100' },
});

/** The readers of all domains for exports. */
export const archiveReaders: ArchiveReaders = {
  ...organizationsArchiveReaders,
  ...boardArchiveReaders,
  ...attachmentsArchiveReaders,
  ...notificationsArchiveReaders,
};

/** The reactions of all domains to events. They run in the transaction that emitted the events. */
export const reactions: readonly EventReaction[] = [
  runReactions,
  executionReactions,
  reworkReactions,
  unblockReactions,
  forgeReactions,
  seatReactions,
  notificationReaction,
];

/** Adds the internal operations that only other handlers call. */
export const withInternalHandlers = <Tree extends object>(handlerTree: Tree): Tree => ({
  ...handlerTree,
  insideHandlers: internalHandlers,
  insideBoard: internalBoardHandlers,
});

/**
 * Returns the operations that handlers may perform: the whole API, and the internal operations that only
 * other handlers call.
 */
export const performableHandlers = (handlerTree: AllHandlers): ReadonlyMap<string, Handler> =>
  handlersByOperation(withInternalHandlers(handlerTree));
