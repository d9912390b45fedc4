import { shortenable } from '@muster/driver';
import { registry } from '@muster/registry';
import { handle, requireProject } from '@muster/runtime';
import { cursorsOf } from '../../data/event-cursors.ts';
import { walkEvents } from '../../data/events.ts';

export const list = handle(registry.events.list, async ({ params, caller, db, waitFor, refuse }) => {
  const { after, projectId, kinds, limit, waitSeconds } = params;
  const cursors = await cursorsOf(db, caller.orgId);
  const from = after === undefined || after === 'latest' ? after : cursors.open(after);
  const [{ items, upTo, keptAfter, isLost, projectKnownAs }] = await Promise.all([
    walkEvents(db, caller, { from, projectId, kinds, limit }),
    projectId === undefined ? undefined : requireProject(db, caller, projectId),
  ]);
  if (isLost || (typeof from === 'number' && from < keptAfter)) throw refuse('resync');
  if (items.length === 0 && waitSeconds > 0)
    waitFor({
      position: { activityAfter: upTo, projectId: projectKnownAs, kinds: kinds ?? null },
      seconds: waitSeconds,
    });
  const shown = items.map(({ seq, ...item }) => ({ ...item, cursor: cursors.seal(seq) }));
  const [oldest, end] = [cursors.seal(keptAfter), cursors.seal(upTo)];
  return shortenable({ items: shown, cursor: end, oldest }, (count) => ({
    items: shown.slice(0, count),
    cursor: shown[count - 1]?.cursor ?? end,
    oldest,
  }));
});
