import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listNotifications } from '../../data/notifications.ts';

export const list = handle(registry.notifications.list, ({ params, caller, db }) =>
  listNotifications(db, caller, params),
);
