import { notificationsRegistry } from '@muster/notifications-registry';
import { handle, requireProject, requireStory } from '@muster/runtime';
import { listActivity } from '../../data/activity.ts';
import { getEventCursors } from '../../data/event-cursors.ts';

export const list = handle(notificationsRegistry.activity.list, async ({ params, caller, db }) => {
  const cursors = await getEventCursors(db, caller.orgId, 'down');
  const [page] = await Promise.all([
    listActivity(db, caller, params, cursors),
    params.projectId === undefined ? undefined : requireProject(db, caller, params.projectId),
    params.storyId === undefined ? undefined : requireStory(db, caller, params.storyId),
  ]);
  return page;
});
