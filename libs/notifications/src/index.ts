import { activity } from './operations/activity/handlers.ts';
import { audit } from './operations/audit/handlers.ts';
import { broadcasts } from './operations/broadcasts/handlers.ts';
import { events } from './operations/events/handlers.ts';
import { notifications } from './operations/notifications/handlers.ts';

/** The handlers of this library, by namespace. */
export const notificationsHandlers = { activity, audit, broadcasts, events, notifications };

export { notify, notifySeatLimit } from './notify.ts';
export { bundleNotification } from './data/bundles.ts';
export { markRead } from './data/notifications.ts';
export { type PreparedMessages, prepareNotification } from './prepare-notification.ts';
export {
  dueWebhooks,
  hold as holdWebhook,
  holdSeconds,
  passOver as passOverWebhooks,
} from './data/webhook-turns.ts';
export { keptDays as webhookDeliveriesKeptDays } from './data/webhook-deliveries.ts';
export { linkTo } from './rules/webhook-message.ts';
export { webhooksWith } from './operations/webhooks/handlers.ts';
export { SubjectUrl, webhooksSetUpOf } from './operations/webhooks/environment.ts';
export { usualWebhooks, type WebhooksSetUp } from './operations/webhooks/set-up.ts';
export {
  isDelivered,
  type ReadyMessage,
  type SentMessage,
  takeTurn,
  type TurnAnswer,
  type TurnAsked,
  type TurnSetUp,
} from './webhook-turn.ts';
