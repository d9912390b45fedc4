import { makeShortenable } from '@muster/driver';
import { notificationsRegistry } from '@muster/notifications-registry';
import { handle, requireProject } from '@muster/runtime';
import { getEventCursors } from '../../data/event-cursors.ts';
import { readEvents } from '../../data/events.ts';

export const list = handle(
  notificationsRegistry.events.list,
  async ({ params, caller, db, waitForNewEvents, refuse }) => {
    const { after, projectId, kinds, limit, waitSeconds } = params;
    const cursors = await getEventCursors(db, caller.orgId);
    const from = after === undefined || after === 'latest' ? after : cursors.decode(after);
    const [{ items, scannedUpToSeq, seqBeforeOldest, isPositionLost, resolvedProjectId }] = await Promise.all(
      [
        readEvents(db, caller, { startAfter: from, projectId, kinds, limit }),
        projectId === undefined ? undefined : requireProject(db, caller, projectId),
      ],
    );
    if (isPositionLost || (typeof from === 'number' && from < seqBeforeOldest)) throw refuse('resync');
    if (items.length === 0 && waitSeconds > 0)
      waitForNewEvents({
        position: { activityAfter: scannedUpToSeq, projectId: resolvedProjectId, kinds: kinds ?? null },
        timeoutSeconds: waitSeconds,
      });
    const shown = items.map(({ seq, ...item }) => ({ ...item, cursor: cursors.encode(seq) }));
    const [oldest, end] = [cursors.encode(seqBeforeOldest), cursors.encode(scannedUpToSeq)];
    return makeShortenable({ items: shown, cursor: end, oldest }, (count) => ({
      items: shown.slice(0, count),
      cursor: shown[count - 1]?.cursor ?? end,
      oldest,
    }));
  },
);
