import { badRequest, registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { countReplayed, isKept, mostReplayed, replayRange } from '../../data/webhook-deliveries.ts';
import { lockWebhook, wake } from '../../data/webhooks.ts';

/**
 * Converts an end of the range to a number if it is a number that was sent as text. Other texts are times.
 */
const edgeOf = (edge: number | string): number | string =>
  typeof edge === 'string' && /^\d+$/.test(edge) ? Number(edge) : edge;

export const replay = handle(
  registry.webhooks.replay,
  async ({ params, caller, db, requireGround, refuse }) => {
    const { webhookId } = params;
    const [from, to] = [edgeOf(params.from), edgeOf(params.to)];
    const range = { webhookId, from, to };
    if (typeof from !== typeof to)
      throw badRequest('The two ends of the range have different types.', [
        { path: 'to', message: 'must be a number if from is a number, otherwise a time' },
      ]);
    if (from > to)
      throw badRequest('The range is empty.', [{ path: 'to', message: 'must not be before from' }]);
    const row = await lockWebhook({ db, caller, requireGround }, webhookId);
    const [kept, count] = await Promise.all([isKept(db, range), countReplayed(db, range)]);
    if (!kept) throw refuse('resync');
    if (count > mostReplayed) throw refuse('limit_exceeded', { limit: mostReplayed });
    if (count > 0) {
      db.later(replayRange(range, row.paused_at !== null));
      db.later(wake(webhookId));
    }
    return { count };
  },
);
