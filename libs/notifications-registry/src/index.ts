/** The operations about activity, audit, events, notifications, broadcasts and webhooks. */
import { activity } from './activity.ts';
import { agents } from './agents.ts';
import { audit } from './audit.ts';
import { broadcasts } from './broadcasts.ts';
import { events } from './events.ts';
import { notifications } from './notifications.ts';
import { webhooks } from './webhooks.ts';

export const notificationsRegistry = { agents, activity, events, audit, broadcasts, notifications, webhooks };
export type NotificationsRegistry = typeof notificationsRegistry;
