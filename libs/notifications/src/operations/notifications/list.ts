import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { listNotifications } from '../../data/notifications.ts';

export const list = handle(notificationsRegistry.notifications.list, ({ params, caller, db }) =>
  listNotifications(db, caller, params),
);
