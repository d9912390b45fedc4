import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { listAudit } from '../../data/audit.ts';

export const list = handle(notificationsRegistry.audit.list, ({ params, db }) => listAudit(db, params));
