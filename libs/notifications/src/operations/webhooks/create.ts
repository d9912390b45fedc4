import { newId } from '@muster/driver';
import { newWebhookSecret } from '@muster/outbound';
import { leadRank, registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { organizationKeyOf } from '../../data/event-cursors.ts';
import { getProject } from '../../data/visible.ts';
import {
  aboutWebhook,
  activityStands,
  countWebhooks,
  lockMaking,
  mostWebhooks,
  toWebhook,
  webhooks,
  withSecretAgain,
} from '../../data/webhooks.ts';
import { secretOwner } from '../../rules/webhook-secrets.ts';
import { requireUrl, type WebhooksSetUp } from './set-up.ts';

export const createWith = (setUp: WebhooksSetUp) =>
  handle(
    registry.webhooks.create,
    async ({ params, caller, db, access, requireGround, emit, refuse }) => {
      const { projectId, url, kinds, order, description } = params;
      requireUrl(setUp, url);
      const [{ at }, project, organizationKey, , count, stands] = await Promise.all([
        access(),
        projectId === undefined ? null : getProject(db, caller, projectId),
        organizationKeyOf(db, caller.orgId),
        lockMaking(db, caller.orgId),
        countWebhooks(db),
        activityStands(db),
      ]);
      await requireGround(project !== null && project.rank >= leadRank && 'projectLead');
      if (project?.archived === true) throw refuse('archived');
      if (count >= mostWebhooks) throw refuse('limit_exceeded', { limit: mostWebhooks });

      const id = newId();
      const secret = newWebhookSecret();
      const row = webhooks.make(
        {
          id,
          projectId: project?.id ?? null,
          url,
          kinds,
          sendOrder: order,
          description,
          secret: setUp.seals.seal(secretOwner(organizationKey, id), secret),
          makerId: caller.memberId,
          madeBy: caller.actor,
          cursorSeq: stands,
        },
        at,
      );
      db.later(webhooks.insert(row));
      emit('webhook.created', aboutWebhook(row), {});
      return { webhook: toWebhook({ ...row, lag: 0 }), secret };
    },
    {
      reissue: ({ db, caller }, kept) => withSecretAgain(db, caller, kept, setUp.seals),
    },
  );
