import { makeShortenable } from '@muster/driver';
import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { readInbox, recipientOf } from '../../data/inbox.ts';

export const inbox = handle(
  notificationsRegistry.agents.inbox,
  async ({ params, caller, db, waitForNewEvents }) => {
    const { after, kinds, limit, waitSeconds } = params;
    const { items, cursor } = await readInbox(db, caller, { after, kinds, limit });
    if (items.length === 0 && waitSeconds > 0)
      waitForNewEvents({
        position: { recipientId: recipientOf(caller), afterSeq: cursor },
        timeoutSeconds: waitSeconds,
      });
    return makeShortenable({ items, cursor }, (count) => ({
      items: items.slice(0, count),
      cursor: items[count - 1]?.seq ?? cursor,
    }));
  },
);
