import { decodeCursor, pageOfRows } from '@muster/driver';
import { notificationKinds } from '@muster/contract';
import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { z } from 'zod';
import { listChannelChoices } from '../../data/preferences.ts';
import { channelsOf } from '../../rules/channels.ts';

/** The last kind on the previous page. */
const Cursor = z.tuple([z.enum(notificationKinds)]);

export const listPreferences = handle(
  notificationsRegistry.notifications.listPreferences,
  async ({ params: { limit, cursor }, caller, db }) => {
    const after = decodeCursor(cursor, Cursor);
    const choices = await listChannelChoices(db, caller.memberId);
    const kinds = notificationKinds.slice(after === undefined ? 0 : notificationKinds.indexOf(after[0]) + 1);
    return pageOfRows(
      kinds,
      limit,
      (kind) => [kind],
      (kind) => ({ kind, channels: channelsOf(kind, choices) }),
    );
  },
);
