import { activity } from './operations/activity/handlers.ts';
import { audit } from './operations/audit/handlers.ts';
import { broadcasts } from './operations/broadcasts/handlers.ts';
import { events } from './operations/events/handlers.ts';
import { notifications } from './operations/notifications/handlers.ts';

/** What this lib answers, by namespace. */
export const notificationsHandlers = { activity, audit, broadcasts, events, notifications };

export { notify } from './notify.ts';
export { type Delivery, prepareNotification } from './prepare-notification.ts';
