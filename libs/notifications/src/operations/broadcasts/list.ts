import { notificationsRegistry } from '@muster/notifications-registry';
import { handle, requireProject } from '@muster/runtime';
import { listBroadcasts } from '../../data/broadcasts.ts';

export const list = handle(notificationsRegistry.broadcasts.list, async ({ params, caller, db }) => {
  const [page] = await Promise.all([
    listBroadcasts(db, caller, params),
    params.projectId === undefined ? undefined : requireProject(db, caller, params.projectId),
  ]);
  return page;
});
