import { newId } from '@muster/driver';
import { newWebhookSecret } from '@muster/outbound';
import { isAuditKind, leadRank } from '@muster/contract';
import { notificationsRegistry } from '@muster/notifications-registry';
import { getVisibleProject, handle } from '@muster/runtime';
import { getCachedOrganizationKey } from '../../data/event-cursors.ts';
import {
  webhookSubject,
  getStreamPositions,
  hostOnlyUrl,
  countWebhooks,
  lockWebhookCreation,
  maxWebhooks,
  requireAuditAllowed,
  toWebhook,
  webhooks,
  withStoredSecret,
} from '../../data/webhooks.ts';
import { webhookSecretOwner } from '../../rules/webhook-secrets.ts';
import { requireAllowedUrl, type WebhooksConfig } from './set-up.ts';

export const createHandler = (config: WebhooksConfig) =>
  handle(
    notificationsRegistry.webhooks.create,
    async ({ params, caller, db, access, requireGround, emit, refuse }) => {
      const { projectId, url, kinds, order, format, description } = params;
      const isSigned = format === 'standard';
      requireAllowedUrl(config, url);
      const [{ at }, project, organizationKey, , count, positions] = await Promise.all([
        access(),
        projectId === undefined ? null : getVisibleProject(db, caller, projectId),
        getCachedOrganizationKey(db, caller.orgId),
        lockWebhookCreation(db, caller.orgId),
        countWebhooks(db),
        getStreamPositions(db),
      ]);
      await requireGround(project !== null && project.rank >= leadRank && 'projectLead');
      await requireAuditAllowed(requireGround, project?.id ?? null, kinds, format);
      if (project?.archived === true) throw refuse('archived');
      if (count >= maxWebhooks) throw refuse('limit_exceeded', { limit: maxWebhooks });

      const id = newId();
      const secret = isSigned ? newWebhookSecret() : url;
      const row = webhooks.make(
        {
          id,
          projectId: project?.id ?? null,
          url: isSigned ? url : hostOnlyUrl(url),
          format,
          kinds,
          sendOrder: order,
          description,
          secret: config.seals.encrypt(webhookSecretOwner(organizationKey, id), secret),
          makerId: caller.memberId,
          madeBy: caller.actor,
          cursorSeq: positions.activity,
          auditCursorSeq: kinds.some(isAuditKind) ? positions.audit : null,
        },
        at,
      );
      db.deferToCommit(webhooks.insert(row));
      emit('webhook.created', webhookSubject(row), {});
      return { webhook: toWebhook({ ...row, lag: 0 }), secret: isSigned ? secret : '' };
    },
    {
      reissueSecret: ({ db, caller }, kept) => withStoredSecret(db, caller, kept, config.seals),
    },
  );
