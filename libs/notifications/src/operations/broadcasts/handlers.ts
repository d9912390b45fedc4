import { type NotificationsRegistry } from '@muster/notifications-registry';
import { type HandlersOf } from '@muster/runtime';
import { list } from './list.ts';
import { send } from './send.ts';

export const broadcasts = { send, list } satisfies HandlersOf<NotificationsRegistry['broadcasts']>;
