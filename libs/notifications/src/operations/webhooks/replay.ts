import { badRequest } from '@muster/contract';
import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import {
  countReplayableDeliveries,
  isRangeStored,
  maxReplayedDeliveries,
  replayDeliveries,
} from '../../data/webhook-deliveries.ts';
import { lockWebhook, makeWebhookDue } from '../../data/webhooks.ts';

/**
 * Converts an end of the range to a number if it is a number that was sent as text. Other texts are times.
 */
const parseRangeEnd = (rangeEnd: number | string): number | string =>
  typeof rangeEnd === 'string' && /^\d+$/.test(rangeEnd) ? Number(rangeEnd) : rangeEnd;

export const replay = handle(
  notificationsRegistry.webhooks.replay,
  async ({ params, caller, db, requireGround, refuse }) => {
    const { webhookId } = params;
    const [from, to] = [parseRangeEnd(params.from), parseRangeEnd(params.to)];
    const range = { webhookId, from, to };
    if (typeof from !== typeof to)
      throw badRequest('The two ends of the range have different types.', [
        { path: 'to', message: 'must be a number if from is a number, otherwise a time' },
      ]);
    if (from > to)
      throw badRequest('The range is empty.', [{ path: 'to', message: 'must not be before from' }]);
    const row = await lockWebhook({ db, caller, requireGround }, webhookId);
    const [kept, count] = await Promise.all([isRangeStored(db, range), countReplayableDeliveries(db, range)]);
    if (!kept) throw refuse('resync');
    if (count > maxReplayedDeliveries) throw refuse('limit_exceeded', { limit: maxReplayedDeliveries });
    if (count > 0) {
      db.deferToCommit(replayDeliveries(range, row.paused_at !== null));
      db.deferToCommit(makeWebhookDue(webhookId));
    }
    return { count };
  },
);
