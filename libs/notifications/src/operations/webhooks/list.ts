import { leadRank } from '@muster/contract';
import { notificationsRegistry } from '@muster/notifications-registry';
import { getVisibleProject, handle } from '@muster/runtime';
import { listWebhooks } from '../../data/webhooks.ts';

export const list = handle(
  notificationsRegistry.webhooks.list,
  async ({ params, caller, db, requireGround }) => {
    const [page, project] = await Promise.all([
      listWebhooks(db, params),
      params.projectId === undefined ? null : getVisibleProject(db, caller, params.projectId),
    ]);
    await requireGround(project !== null && project.rank >= leadRank && 'projectLead');
    return page;
  },
);
