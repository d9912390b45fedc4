import { type NotificationsRegistry } from '@muster/notifications-registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';

export const activity = { list } satisfies HandlersOf<NotificationsRegistry['activity']>;
