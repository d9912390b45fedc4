import { activity } from './operations/activity/handlers.ts';
import { agents } from './operations/agents/handlers.ts';
import { audit } from './operations/audit/handlers.ts';
import { broadcasts } from './operations/broadcasts/handlers.ts';
import { events } from './operations/events/handlers.ts';
import { notifications } from './operations/notifications/handlers.ts';

/** The handlers of this library, by namespace. */
export const notificationsHandlers = { activity, agents, audit, broadcasts, events, notifications };

export { notificationsArchiveReaders } from './data/archive.ts';
export { notificationReaction, notifyNoSeatsLeft } from './notify.ts';
export { bundleNotification } from './data/bundles.ts';
export { markReadQuery } from './data/notifications.ts';
export { dueDigestsCondition, prepareDigest, requestDueDigests } from './digest.ts';
export {
  type NotifiedQuestion,
  type PreparedMessages,
  type PreparedPush,
  prepareNotification,
} from './prepare-notification.ts';
export { consoleStoryLink, consoleUrlOf } from './rules/console-links.ts';
export {
  dueWebhooksQuery,
  acquireWebhook,
  webhookHoldSeconds,
  skipUnsubscribedEvents,
} from './data/webhook-turns.ts';
export { deliveryRetentionDays } from './data/webhook-deliveries.ts';
export { subjectLink } from './rules/webhook-message.ts';
export { createWebhookHandlers } from './operations/webhooks/handlers.ts';
export { SubjectUrl, toWebhooksConfig } from './operations/webhooks/environment.ts';
export { defaultWebhooksConfig, type WebhooksConfig } from './operations/webhooks/set-up.ts';
export {
  isDelivered,
  type ReadyMessage,
  type SentMessage,
  runDeliveryRound,
  type TurnResponse,
  type TurnRequest,
  type TurnConfig,
} from './webhook-turn.ts';
export {
  findReplyableNotification,
  replyValidityDays,
  type ReplyableNotification,
} from './data/reply-targets.ts';
